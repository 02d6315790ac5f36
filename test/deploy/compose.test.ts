import { globSync, readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { DCLinter } from 'dclint';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '#src/config.ts';

interface Service {
  build?: string | { context: string };
  image?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  mem_limit?: string;
  ulimits?: { nofile: number };
  ports?: string[];
  profiles?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  networks?: string[];
}

/** A result of the linter, whose package exports no types for it. */
interface Linted {
  messages: { type: 'error' | 'warning'; rule: string; message: string }[];
}

const compose = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }) as {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean }>;
};
const services = Object.entries(compose.services);

it('docker-compose.yml matches the Compose schema, and the linter finds no security problem in it', () => {
  const linter = new DCLinter({ rules: {}, quiet: false, debug: false, exclude: [] });
  const results: Linted[] = linter.lintFiles(['docker-compose.yml'], false);
  const errors = results.flatMap(({ messages }) => messages).filter(({ type }) => type === 'error');
  expect(results.length).toBe(1);
  // The linter does not see that this variable is an address.
  const wrong = errors.filter(({ message }) => !/"\$\{HTTP_ADDRESS:-127\.0\.0\.1\}:/.test(message));
  expect(wrong.map(({ rule, message }) => `${rule}: ${message}`)).toEqual([]);
});

describe.each(services)('the service %s', (_name, service) => {
  it('a service can write only to its volumes, gains no privileges and has limits of memory and logs', () => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      mem_limit: expect.stringMatching(/^\d+m$/),
      logging: { driver: 'json-file', options: { 'max-size': '10m', 'max-file': '5' } },
    });
  });

  it('a service uses an image of one exact version', () => {
    const { build } = service;
    const context = typeof build === 'object' ? build.context : build;
    const image = service.image ?? firstImage(`${context}/Dockerfile`);
    expect(image).toMatch(/:v?\d+\.\d+\.\d+(-[a-z-]+)?$/);
  });
});

it('only the instances share a network with Redis, and nothing leaves it', () => {
  const inStore = services.filter(([, { networks = ['default'] }]) => networks.includes('store'));
  expect(inStore.map(([name]) => name).sort()).toEqual(['api', 'redis']);
  expect(compose.services.redis?.networks).toEqual(['store']);
  expect(compose.networks.store).toEqual({ internal: true });
});

it('the balancer allows more connections than one address has ports, and has the descriptors for them', () => {
  const main = readFileSync('deploy/nginx/nginx.conf', 'utf8');
  const read = (name: string) => Number(new RegExp(`${name} (\\d+);`).exec(main)?.[1]);
  expect(read('worker_processes') * read('worker_connections')).toBeGreaterThan(65_535);
  expect(read('worker_rlimit_nofile')).toBeGreaterThan(read('worker_connections'));
  expect(compose.services.balancer?.ulimits?.nofile).toBe(read('worker_rlimit_nofile'));
});

it('the image starts the service as `npm start` does', () => {
  const dockerfile = readFileSync('Dockerfile', 'utf8');
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect([scripts.start, /^CMD (.*)$/m.exec(dockerfile)?.[1]]).toEqual(['exec scripts/start', '["scripts/start"]']);
  expect(dockerfile).toMatch(
    /^COPY scripts\/start .*^ENV NODE_COMPILE_CACHE=.*^USER node$.*^RUN node src\/cli\/compile\.ts$/ms,
  );
});

it('the image without settings starts the sandbox, like `npm start` on an empty machine, on every network', () => {
  const own = [...readFileSync('Dockerfile', 'utf8').matchAll(/^ENV (\w+)=(.*)$/gm)].map(([, name, value]) => [
    name,
    value,
  ]);
  expect(parseConfig(Object.fromEntries(own))).toMatchObject({ upstream: { kind: 'sandbox' }, host: '0.0.0.0' });
});

it('only the balancer is open to other machines, and only if HTTP_ADDRESS says so', () => {
  const ports = services.flatMap(([name, service]) => (service.ports ?? []).map((port) => ({ name, port })));
  const open = ports.filter(({ port }) => !port.startsWith('127.0.0.1:'));
  expect(open.map(({ name, port }) => `${name} ${port.split('}:')[0]}`)).toEqual([
    'balancer ${HTTP_ADDRESS:-127.0.0.1',
    'balancer ${HTTP_ADDRESS:-127.0.0.1',
  ]);
});

it('Prometheus finds the Alertmanager, which routes every severity', () => {
  const { alerting } = parse(readFileSync('deploy/prometheus/prometheus.yml', 'utf8'));
  const [inContainers] = alerting.alertmanagers;
  expect(inContainers).toEqual({ dns_sd_configs: [{ names: ['alertmanager'], type: 'A', port: 9093 }] });
  const { route, receivers } = parse(readFileSync('deploy/alertmanager/alertmanager.yml', 'utf8'));
  expect(receivers.map(({ name }: { name: string }) => name)).toEqual(['page', 'warn']);
  expect([route.receiver, route.routes[0].receiver]).toEqual(['warn', 'page']);
});

it('Prometheus, Alertmanager and Grafana start only on request', () => {
  const optional = services.filter(([, { profiles }]) => profiles?.includes('observe')).map(([name]) => name);
  expect(optional).toEqual(['prometheus', 'alertmanager', 'grafana']);
});

describe('an instance in docker-compose.yml', () => {
  const environment = compose.services.api?.environment ?? {};
  /** Every variable with its default, as in Compose without a .env file. */
  const defaults = Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [name, value.replace(/\$\{\w+:(?:-([^${}]*)|\?.*)\}$/, '$1')]),
  );
  it('an instance gets only variables that the service knows', () => {
    const known = Object.keys(parseEnv(readFileSync('.env.example', 'utf8')));
    expect(Object.keys(environment)).toContain('REDIS_URL');
    expect(Object.keys(environment).filter((name) => !known.includes(name))).toEqual([]);
  });

  const sandbox = { ...defaults, ...parseEnv(readFileSync('deploy/sandbox.env', 'utf8')) };
  it('an instance starts with the sandbox only if that is set', () => {
    expect(() => parseConfig(defaults)).toThrow(/^UPSTREAM_API_KEY must be set with REDIS_URL: .*SANDBOX=1/);
    const config = parseConfig(sandbox);
    expect(config).toMatchObject({
      upstream: { kind: 'sandbox' },
      redisUrls: ['redis://redis:6379'],
      trustProxy: 1,
    });
    expect(config.publicUrl).toBe('http://localhost:3000');
    expect(config.smtpUrl).toBe('smtp://mailpit:1025');
  });

  it('an instance refuses to start in production without the settings that all instances must share', () => {
    const start = () => parseConfig({ ...defaults, UPSTREAM_API_KEY: 'key' });
    expect(start).toThrow(/^LINK_SECRET must be set/m);
    expect(start).toThrow(/^PUBLIC_URL must be set/m);
  });

  it('without a mail server nothing starts, and Mailpit starts with the sandbox only', () => {
    // Compose refuses an unset or empty variable of this form.
    expect(environment.SMTP_URL).toMatch(/^\$\{SMTP_URL:\?.+\}$/);
    expect(compose.services.mailpit?.profiles).toEqual([sandbox.COMPOSE_PROFILES]);
  });

  it('an instance has its metrics where Prometheus looks for them', () => {
    const prometheus = parse(readFileSync('deploy/prometheus/prometheus.yml', 'utf8'));
    const { port, names } = prometheus.scrape_configs[0].dns_sd_configs[0];
    expect(names).toEqual(['api']);
    expect(parseConfig(sandbox).metrics).toEqual({ host: '0.0.0.0', port });
  });
});

function firstImage(dockerfile: string): string {
  return /^FROM (\S+)/m.exec(readFileSync(dockerfile, 'utf8'))?.[1] ?? '';
}

it('the image has every program that the guides show', () => {
  const dockerfile = readFileSync('Dockerfile', 'utf8');
  const copied = [...dockerfile.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, sources = '']) => sources.split(' '));
  const shown = globSync('docs/guide/*.md').flatMap((guide) =>
    [...readFileSync(guide, 'utf8').matchAll(/^<!-- example (\S+) -->$/gm)].map(([, file]) => `examples/${file}`),
  );
  expect(shown.length).toBeGreaterThan(3);
  expect(shown.filter((file) => !copied.some((source) => file.startsWith(`${source}/`)))).toEqual([]);
});
