import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ConfigError, parseConfig, VARIABLES } from '#src/config.ts';

const problemsOf = (env: Record<string, string>): string => {
  try {
    parseConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return '';
};

const ALL_PRIVATE =
  '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,100.64.0.0/10,169.254.0.0/16,127.0.0.0/8,::1,fc00::/7,fe80::/10';
/** The published proxies of a content delivery network. */
const ONE_OPERATOR =
  '173.245.48.0/20,103.21.244.0/22,103.22.200.0/22,103.31.4.0/22,141.101.64.0/18,108.162.192.0/18,190.93.240.0/20,188.114.96.0/20,197.234.240.0/22,198.41.128.0/17,162.158.0.0/15,104.16.0.0/13,104.24.0.0/14,172.64.0.0/13,131.0.72.0/22,2400:cb00::/32,2606:4700::/32,2803:f800::/32,2405:b500::/32,2405:8100::/32,2a06:98c0::/29,2c0f:f248::/32';

describe('the configuration', () => {
  const defaults = {
    host: '127.0.0.1',
    port: 3000,
    publicUrl: 'http://localhost:3000',
    docsUrl: 'http://localhost:3000/docs',
    upstream: { kind: 'sandbox' },
    timetable: { mode: 'on', hasBundle: true },
    without: [],
    redisUrls: [],
    dataDir: './data',
    logLevel: null,
    trustProxy: false,
    drainMs: 0,
    loggedPerSecond: 20,
    contact: null,
    tileUrl: null,
    metrics: null,
    collector: null,
  };

  it('the configuration of an empty environment is the documented defaults, with the sandbox', () => {
    expect(parseConfig({})).toMatchObject(defaults);
  });

  it('the service listens on this machine only unless HOST says otherwise, even with an upstream key', () => {
    expect(parseConfig({}).host).toBe('127.0.0.1');
    expect(parseConfig({ UPSTREAM_API_KEY: 'one' }).host).toBe('127.0.0.1');
    expect(parseConfig({ HOST: '0.0.0.0' }).host).toBe('0.0.0.0');
  });

  it('an empty variable counts as unset', () => {
    const names = [
      'HOST',
      'PORT',
      'PUBLIC_URL',
      'UPSTREAM_URL',
      'UPSTREAM_API_KEY',
      'UPSTREAM_PROXY',
      'TIMETABLE',
      'REDIS_URL',
      'DATA_DIR',
      'SANDBOX',
      'LOG_LEVEL',
      'TRUST_PROXY',
      'METRICS_ADDRESS',
      'DRAIN_SECONDS',
      'LOG_REQUESTS',
      'CONTACT',
      'TILES',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'OTEL_TRACES_SAMPLER',
      'OTEL_TRACES_SAMPLER_ARG',
      'WITHOUT',
    ];
    expect(parseConfig(Object.fromEntries(names.map((name) => [name, ''])))).toEqual(parseConfig({}));
    expect(parseConfig({ HOST: undefined })).toEqual(parseConfig({}));
  });

  it('the configuration reads every variable', () => {
    const config = parseConfig({
      HOST: '10.1.2.3',
      PORT: '8080',
      PUBLIC_URL: 'https://transit.example/',
      UPSTREAM_URL: 'https://upstream.example/v1/tp/',
      UPSTREAM_API_KEY: ' one, two ',
      WITHOUT: 'mcp, streams',
      TIMETABLE: 'auto,complete',
      LOG_LEVEL: 'debug',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.01',
      TRUST_PROXY: '2',
      DRAIN_SECONDS: '15',
      LOG_REQUESTS: '100',
      CONTACT: 'mailto:help@transit.example',
      TILES: 'https://tiles.example/{z}/{x}/{y}.png © Example contributors',
    });
    expect(config).toMatchObject({
      host: '10.1.2.3',
      port: 8080,
      publicUrl: 'https://transit.example',
      docsUrl: 'https://transit.example/docs',
      upstream: { kind: 'real', url: 'https://upstream.example/v1/tp', apiKeys: ['one', 'two'] },
      timetable: { mode: 'auto', hasBundle: true },
      without: ['mcp', 'streams'],
      logLevel: 'debug',
      collector: {
        endpoint: 'http://collector:4318',
        takesLogs: false,
        sampler: { share: 0.01, followsCaller: false },
      },
      trustProxy: 2,
      drainMs: 15_000,
      loggedPerSecond: 100,
      contact: 'mailto:help@transit.example',
      tileUrl: 'https://tiles.example/{z}/{x}/{y}.png',
      tileAttribution: '© Example contributors',
    });
  });

  it('the service uses a timetable once comparisons agree, and at once in the sandbox', () => {
    const modeOf = (env: Record<string, string>) => parseConfig(env).timetable.mode;
    expect(modeOf({ UPSTREAM_API_KEY: 'key' })).toBe('auto');
    expect(modeOf({ UPSTREAM_API_KEY: 'key', TIMETABLE: 'on' })).toBe('on');
    expect(modeOf({})).toBe('on');
    expect(modeOf({ TIMETABLE: 'off' })).toBe('off');
    expect(parseConfig({ UPSTREAM_API_KEY: 'key' }).timetable.hasBundle).toBe(false);
    expect(parseConfig({ TIMETABLE: 'off' }).timetable).toEqual({ mode: 'off', hasBundle: true });
    for (const text of ['yes', 'auto,all', 'auto,complete,complete', 'complete']) {
      expect(problemsOf({ TIMETABLE: text })).toBe(
        'TIMETABLE must be one of off, auto, on, or one of them and ",complete"',
      );
    }
  });

  it('WITHOUT turns off the extensions it names, and nothing else', () => {
    expect(parseConfig({}).without).toEqual([]);
    expect(parseConfig({ WITHOUT: 'pages' }).without).toEqual(['pages']);
    expect(problemsOf({ WITHOUT: 'mcp,board' })).toBe(
      'WITHOUT must be one of mcp, streams, pages, carparks, punctuality, or several separated by commas',
    );
  });

  it.each<[string, unknown]>([
    ['off', false],
    ['false', false],
    ['0', false],
    ['1', 1],
    [' 2 ', 2],
    ['10.0.0.0/8', ['10.0.0.0/8']],
    ['10', 10],
    ['10.0.0.1, 2001:DB8::/32', ['10.0.0.1', '2001:db8::/32']],
    [ALL_PRIVATE, ALL_PRIVATE.split(',')],
    [ONE_OPERATOR, ONE_OPERATOR.split(',')],
  ])('TRUST_PROXY=%s trusts %j', (value, trusted) => {
    expect(parseConfig({ TRUST_PROXY: value }).trustProxy).toEqual(trusted);
  });

  it('the public address follows from the port, and the address of the docs from the public address', () => {
    expect(parseConfig({ PORT: '8080' }).docsUrl).toBe('http://localhost:8080/docs');
    expect(parseConfig({ PUBLIC_URL: 'https://transit.example', SANDBOX: '1' }).docsUrl).toBe(
      'https://transit.example/docs',
    );
  });

  it('the service calls the real upstream as soon as there is a key', () => {
    expect(parseConfig({ UPSTREAM_API_KEY: 'one' }).upstream).toEqual({
      kind: 'real',
      url: 'https://api.transport.nsw.gov.au/v1/tp',
      apiKeys: ['one'],
    });
  });

  it.each(['http://localhost:8000/v1/tp', 'http://127.0.0.1:8000', 'http://127.8.9.1', 'http://[::1]:8000'])(
    'an upstream at %s, which is this machine, needs no key',
    (url) => {
      expect(parseConfig({ UPSTREAM_URL: url }).upstream).toEqual({ kind: 'real', url, apiKeys: [] });
    },
  );

  it.each([
    ['NODE_ENV', 'production', 'NODE_ENV=production'],
    ['REDIS_URL', 'redis://redis', 'REDIS_URL'],
    ['LINK_SECRET', 'x'.repeat(32), 'LINK_SECRET'],
    ['PUBLIC_URL', 'https://transit.example', 'PUBLIC_URL'],
    ['UPSTREAM_APIKEY', 'a secret', 'UPSTREAM_APIKEY'],
    ['SANDBOX', '0', 'SANDBOX=0'],
  ])('the service does not start the sandbox by mistake when %s is set', (name, value, sign) => {
    expect(problemsOf({ [name]: value })).toBe(
      `UPSTREAM_API_KEY must be set with ${sign}: without it every response would be made up. ` +
        'To use the sandbox, which makes up its data, set SANDBOX=1',
    );
    if (name === 'SANDBOX') return;
    expect(parseConfig({ [name]: value, SANDBOX: '1' }).upstream).toEqual({ kind: 'sandbox' });
    expect(problemsOf({ [name]: value, UPSTREAM_API_KEY: 'key' })).not.toContain('made up');
  });

  it('the error about a missing key names every sign of production, and asks for one source of responses', () => {
    expect(problemsOf({ NODE_ENV: 'production', REDIS_URL: 'redis://redis', PUBLIC_URL: 'https://x.example' })).toMatch(
      /^UPSTREAM_API_KEY must be set with NODE_ENV=production, REDIS_URL, PUBLIC_URL: /,
    );
    expect(problemsOf({ SANDBOX: '1', UPSTREAM_API_KEY: 'key' })).toMatch(
      /^SANDBOX must not be 1 when UPSTREAM_API_KEY/,
    );
    expect(problemsOf({ SANDBOX: 'yes' })).toBe('SANDBOX must be 1 or 0');
    expect(parseConfig({ NODE_ENV: 'test' }).upstream).toEqual({ kind: 'sandbox' });
  });

  it.each(['https://upstream.example', 'http://127.0.0.1.example', 'http://localhost.example', 'http://10.0.0.1'])(
    'an upstream at %s needs a key',
    (url) => {
      expect(problemsOf({ UPSTREAM_URL: url })).toContain('UPSTREAM_API_KEY must be set');
    },
  );

  it('REDIS_URL accepts one Redis, or the nodes of a cluster separated by commas', () => {
    expect(parseConfig({ REDIS_URL: 'rediss://user:pass@redis:6380/1', SANDBOX: '1' }).redisUrls).toEqual([
      'rediss://user:pass@redis:6380/1',
    ]);
    expect(parseConfig({ REDIS_URL: 'redis://one:6379, redis://two:6379', SANDBOX: '1' }).redisUrls).toEqual([
      'redis://one:6379',
      'redis://two:6379',
    ]);
    expect(problemsOf({ REDIS_URL: 'redis://one,http://:secret@two', SANDBOX: '1' })).toBe(
      'REDIS_URL must be a redis:// or rediss:// URL, or several separated by commas',
    );
  });

  it('instances need LINK_SECRET, except with the sandbox', () => {
    const several = { REDIS_URL: 'redis://redis', UPSTREAM_API_KEY: 'one' };
    expect(problemsOf(several)).toMatch(/^LINK_SECRET must be set when REDIS_URL is: /);
    expect(problemsOf({ REDIS_URL: 'redis://redis', UPSTREAM_URL: 'http://localhost' })).toMatch(/^LINK_SECRET/);
    expect(problemsOf(several)).toMatch(/^PUBLIC_URL must be set when REDIS_URL is: /m);
    const complete = { ...several, LINK_SECRET: 'x'.repeat(32), PUBLIC_URL: 'https://transit.example' };
    expect(parseConfig(complete).linkSecrets).toEqual(['x'.repeat(32)]);
    const replaced = { ...complete, LINK_SECRET: `${'y'.repeat(32)}, ${'x'.repeat(32)}` };
    expect(parseConfig(replaced).linkSecrets).toEqual(['y'.repeat(32), 'x'.repeat(32)]);
    expect(problemsOf({ ...complete, LINK_SECRET: `${'y'.repeat(32)},short` })).toMatch(/^LINK_SECRET must have/);
    expect(parseConfig({ REDIS_URL: 'redis://redis', SANDBOX: '1' }).linkSecrets).toBeNull();
    expect(parseConfig({ UPSTREAM_API_KEY: 'one' }).linkSecrets).toBeNull();
  });

  it('metrics have a port of their own, on this machine only unless an address is given', () => {
    expect(parseConfig({ METRICS_ADDRESS: '9464' }).metrics).toEqual({ host: '127.0.0.1', port: 9464 });
    expect(parseConfig({ METRICS_ADDRESS: '0.0.0.0:9464' }).metrics).toEqual({ host: '0.0.0.0', port: 9464 });
    expect(parseConfig({ METRICS_ADDRESS: '[::1]:9464' }).metrics).toEqual({ host: '::1', port: 9464 });
    expect(problemsOf({ METRICS_ADDRESS: '70000' })).toBe('METRICS_ADDRESS must have a port of at most 65535');
    expect(problemsOf({ METRICS_ADDRESS: 'localhost' })).toMatch(
      /^METRICS_ADDRESS must be a port, or an address and a port/,
    );
  });

  it('the configuration cannot be changed once read', () => {
    expect(Object.isFrozen(parseConfig({}))).toBe(true);
  });

  it('the configuration ignores variables that are not its own', () => {
    expect(parseConfig({ PATH: '/bin', UNKNOWN: '1' })).toEqual(parseConfig({}));
  });
});

describe('problems of the configuration', () => {
  it('all problems of the configuration are reported together, one a line, each by its variable', () => {
    const problems = problemsOf({
      PORT: '70000',
      PUBLIC_URL: 'transit.example',
      UPSTREAM_URL: 'https://upstream.example',
      LOG_LEVEL: 'loud',
      TRUST_PROXY: 'maybe',
    }).split('\n');
    expect(problems.map((line) => line.split(' ', 1)[0]).sort()).toEqual([
      'LOG_LEVEL',
      'PORT',
      'PUBLIC_URL',
      'TRUST_PROXY',
      'UPSTREAM_API_KEY',
    ]);
  });

  it.each([
    ['PORT', 'eighty', 'must be a whole number from 0 to 65535'],
    ['PORT', '-1', 'must be a whole number from 0 to 65535'],
    ['PORT', '3000.5', 'must be a whole number from 0 to 65535'],
    ['PORT', '65536', 'must be at most 65535'],
    ['LOG_LEVEL', 'INFO', 'must be one of fatal, error, warn, info, debug, trace, silent'],
    ['UPSTREAM_URL', 'file:///etc', 'must be an http:// or https:// URL'],
    ['UPSTREAM_PROXY', 'socks5://proxy', 'must be an http:// or https:// URL'],
  ])('the configuration %s=%s is refused: %s', (name, value, problem) => {
    expect(problemsOf({ UPSTREAM_API_KEY: 'one', [name]: value })).toBe(`${name} ${problem}`);
  });

  it.each(['on', 'ON', 'true', 'yes', '0.0.0.0/0', '::/0', '10.0.0.0/8,0.0.0.0/00'])(
    'TRUST_PROXY=%s, which trusts everyone, is refused with the reason',
    (value) => {
      expect(problemsOf({ TRUST_PROXY: value })).toMatch(/^TRUST_PROXY must be .* any caller could forge the address/);
    },
  );

  it.each([
    ['two halves of IPv4', '0.0.0.0/1,128.0.0.0/1'],
    ['half of IPv4', '128.0.0.0/1'],
    ['most of IPv4', '0.0.0.0/2,64.0.0.0/2,128.0.0.0/3,10.0.0.0/8'],
    ['all public /8', Array.from({ length: 223 }, (_, n) => `${n + 1}.0.0.0/8`).join()],
    ['half of each /8', Array.from({ length: 223 }, (_, n) => `${n + 1}.128.0.0/9`).join()],
    ['two halves of IPv6', '::/1,8000::/1'],
    ['all public addresses of IPv6', '2000::/3'],
    ['one region’s addresses of IPv6', '2400::/12'],
    ['all assigned addresses of IPv6', '2001::/16,2400::/12,2600::/12,2800::/12,2a00::/12,2c00::/12'],
    ['IPv4 as IPv6', '::ffff:0:0/96'],
    ['two halves of IPv4 as IPv6', '::ffff:0.0.0.0/97,::ffff:128.0.0.0/97'],
    ['a network of IPv6 that contains IPv4', '::/64'],
  ])('a TRUST_PROXY of %s is refused with the reason', (_which, value) => {
    expect(problemsOf({ TRUST_PROXY: value })).toMatch(/^TRUST_PROXY must be .* any caller could forge the address/);
  });

  it.each([
    'maybe',
    '-1',
    '1.5',
    '11',
    '99',
    '100',
    '10.0.0.0/33',
    '0.0.0.0/0,proxy.example',
    '10.0.0/8',
    '::/129',
    '10.0.0.1/',
    'proxy.example',
    '10.0.0.1,,',
  ])('TRUST_PROXY=%s is refused', (value) => {
    expect(problemsOf({ TRUST_PROXY: value })).toMatch(
      /^TRUST_PROXY must be off, the number of proxies in front \(at most 10\), or/,
    );
  });

  it.each(['se cret', 'sécret', 'fine,se\tcret', 'secret,,secret'])(
    'no problem of the configuration reveals the key %j',
    (key) => {
      const problems = problemsOf({ UPSTREAM_API_KEY: key, PORT: 'x' });
      expect(problems).toContain('UPSTREAM_API_KEY must be one key, or several separated by commas');
      expect(problems).not.toMatch(/cret|fine/);
    },
  );

  it('no problem of the configuration reveals the credentials in an address', () => {
    const problems = problemsOf({
      UPSTREAM_URL: 'https://me:secret@upstream.example',
      PUBLIC_URL: 'ftp://me:secret@x',
    });
    expect(problems).toContain('PUBLIC_URL');
    expect(problems).not.toContain('secret');
  });
});

describe('.env.example', () => {
  it('.env.example works unchanged, with the sandbox', () => {
    expect(parseConfig(parseEnv(readFileSync('.env.example', 'utf8'))).upstream).toEqual({ kind: 'sandbox' });
  });

  it('.env.example has every variable that the service or Compose reads, and no other', () => {
    const inCompose = [...readFileSync('docker-compose.yml', 'utf8').matchAll(/\$\{(\w+)/g)].map(
      ([, name = '']) => name,
    );
    const read = new Set([...VARIABLES, ...inCompose]);
    expect(Object.keys(parseEnv(readFileSync('.env.example', 'utf8'))).sort()).toEqual([...read].sort());
  });
});
