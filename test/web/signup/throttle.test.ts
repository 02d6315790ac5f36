import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createThrottle, type MailLimits } from '#web/signup/throttle.ts';
import { startFront } from '../../support/front.ts';

const HOUR_MS = 3_600_000;
const clock = { now: new Date('2026-11-20T02:00:00Z') };
const open = (limits: Partial<MailLimits>) =>
  createThrottle({ perHour: 1e6, perNetwork: 1e6, perAddress: 1e6, ...limits }, () => clock.now.getTime());

/** Whether two clients share one network: the second is refused after one request of the first. */
function shareNetwork(first: string, second: string): boolean {
  const throttle = open({ perNetwork: 1 });
  throttle.consume(first, 'jo@example.com');
  return isRefused(() => throttle.consume(second, 'mo@example.com'));
}

function shareMailbox(first: string, second: string): boolean {
  const throttle = open({ perAddress: 1 });
  throttle.consume('192.0.2.1', first);
  return isRefused(() => throttle.consume('192.0.2.2', second));
}

function isRefused(act: () => void): boolean {
  try {
    act();
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 'TOO_MANY_REQUESTS' });
    return true;
  }
}

describe('networks as the throttle counts them', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1', '::ffff:192.0.2.1'],
    ['192.0.2.1', '::FFFF:c000:201'],
    ['192.0.2.1', '0:0:0:0:0:ffff:c000:0201'],
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
    ['2001:db8:1:2::1', '2001:0DB8:0001:0002:0:0:0:9'],
    ['2001:db8::1', '2001:db8:0:0:1::'],
    ['::1', '::2'],
    ['fe80::1%eth0', 'fe80::2%eth1'],
    ['64:ff9b::192.0.2.1', '64:ff9b::192.0.2.2'],
  ])('the throttle counts %s and %s as one network', (first, second) => expect(shareNetwork(first, second)).toBe(true));

  it.each([
    ['192.0.2.1', '192.0.2.2'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.2'],
    ['2001:db8:1:2::1', '2001:db8:1:3::1'],
    ['2001:db8:1:2::1', '2001:db8:1::2'],
    ['::1', '192.0.2.1'],
  ])('the throttle counts %s and %s as two networks', (first, second) =>
    expect(shareNetwork(first, second)).toBe(false),
  );

  it.each([
    '',
    'unknown',
    'a',
    '256.1.1.1',
    '1.2.3',
    '192.0.2.1:80',
    '[::1]',
    ':::',
    '::1 ',
    '2001:db8:1:2::1%'.repeat(900),
  ])('the throttle counts all texts that are not an IP address as one network: case %#', (text) => {
    expect(shareNetwork('not an address', text)).toBe(true);
    expect(shareNetwork(text, '192.0.2.1')).toBe(false);
  });
});

describe('addresses as the throttle counts them', () => {
  it.each([
    ['victim@example.com', 'victim+1@example.com'],
    ['victim+a@example.com', 'victim+a+b@example.com'],
    ['v.ictim@gmail.com', 'vic.tim+1@gmail.com'],
    ['victim@gmail.com', 'v.i.c.t.i.m@googlemail.com'],
  ])('the throttle counts %s and %s as one address', (first, second) => expect(shareMailbox(first, second)).toBe(true));

  it.each([
    ['victim@example.com', 'victim1@example.com'],
    ['victim@example.com', 'victim@example.org'],
    ['+1@example.com', '+2@example.com'],
    ['vic.tim@example.com', 'victim@example.com'],
  ])('the throttle counts %s and %s as two addresses', (first, second) =>
    expect(shareMailbox(first, second)).toBe(false),
  );
});

describe('a flood of signups from one group', () => {
  const LIMITS = { perHour: 500, perNetwork: 20, perAddress: 6, perDomain: 50 };
  const NEWCOMERS = Array.from({ length: 100 }, (_, count) => `198.${count}.100.7`);
  const hex = (count: number) => count.toString(16);
  let person = 0;
  const newPerson = () => `person-${person++}@domain-${person}.example`;

  /** Returns how many of the requests are granted. */
  function grant(throttle: ReturnType<typeof open>, ips: string[], email: () => string): number {
    return ips.filter((ip) => !isRefused(() => throttle.consume(ip, email()))).length;
  }

  it.each([
    ['a /56 of IPv6', (count: number) => `2001:db8:0:${hex(count % 256)}::1`, 60],
    ['a /48 of IPv6', (count: number) => `2001:db8:0:${hex(count)}::1`, 120],
    ['a /32 of IPv6', (count: number) => `2001:db8:${hex(count)}::1`, 200],
    ['a /24 of IPv4', (count: number) => `192.0.2.${count % 256}`, 60],
    ['a /16 of IPv4', (count: number) => `192.0.${count % 256}.${count >> 8}`, 120],
    ['texts that are not an address', (count: number) => `nobody-${count}`, 20],
  ])('a flood from %s leaves part of the hour’s mails to others', (_group, ipOf, most) => {
    const throttle = open(LIMITS);
    const flood = Array.from({ length: 2000 }, (_, count) => ipOf(count));
    expect(grant(throttle, flood, newPerson)).toBe(most);
    expect(grant(throttle, NEWCOMERS, newPerson)).toBe(100);
  });

  it.each([
    ['one domain', (count: number) => `person@host-${count}.flood.com.au`, 50],
    ['one provider', (count: number) => `person-${count}@gmail.com`, 200],
    ['one mailbox', (count: number) => `${'.'.repeat(count % 9)}victim+${count}@gmail.com`, 6],
  ])(
    'a flood with addresses of %s, from many networks, leaves part of the hour’s mails to others',
    (_which, emailOf, most) => {
      const throttle = open(LIMITS);
      const flood = Array.from({ length: 1000 }, (_, count) => `2001:${hex(count + 4096)}::1`);
      let sent = 0;
      expect(grant(throttle, flood, () => emailOf(sent++))).toBe(most);
      expect(grant(throttle, NEWCOMERS, newPerson)).toBe(100);
    },
  );

  it.each([
    ['schools', (count: number) => `office@school-${count}.schools.nsw.edu.au`],
    ['authorities of New South Wales', (count: number) => `office@agency-${count}.nsw.gov.au`],
    ['authorities of Canberra', (count: number) => `office@mail.agency-${count}.act.gov.au`],
    ['authorities of the Northern Territory', (count: number) => `office@agency-${count}.nt.gov.au`],
  ])('120 %s get their keys in one hour', (_which, emailOf) => {
    let sent = 0;
    expect(
      grant(
        open(LIMITS),
        Array.from({ length: 120 }, (_, count) => `203.${count}.113.7`),
        () => emailOf(sent++),
      ),
    ).toBe(120);
  });

  it('a school or authority has one limit for all of its subdomains', () => {
    const throttle = open(LIMITS);
    const networks = Array.from({ length: 120 }, (_, count) => `203.${count}.113.7`);
    let sent = 0;
    expect(grant(throttle, networks, () => `office@host-${sent++}.manly-h.schools.nsw.edu.au`)).toBe(50);
    expect(grant(throttle, networks, () => `office@host-${sent++}.transport.nsw.gov.au`)).toBe(50);
  });

  it('a few networks that flood one domain leave some of its mails to other networks', () => {
    const throttle = open(LIMITS);
    const flood = Array.from({ length: 300 }, (_, count) => `198.51.${count % 4}.7`);
    let sent = 0;
    expect(grant(throttle, flood, () => `person-${sent++}@university.edu.au`)).toBeLessThan(40);
    expect(grant(throttle, NEWCOMERS.slice(0, 10), () => `person-${sent++}@university.edu.au`)).toBe(10);
  });

  it('a flood from a few wide networks and many domains leaves part of the hour’s mails to others', () => {
    const throttle = open(LIMITS);
    const flood = Array.from({ length: 3000 }, (_, count) => `2001:${hex(4096 + (count % 3))}:0:${hex(count)}::1`);
    expect(grant(throttle, flood, newPerson)).toBe(360);
    expect(
      grant(
        throttle,
        Array.from({ length: 40 }, (_, count) => `203.0.113.${count}`),
        newPerson,
      ),
    ).toBe(15);
    expect(grant(throttle, NEWCOMERS, newPerson)).toBe(100);
  });
});

describe('all clients together', () => {
  it('all clients together get no more mails in an hour than the limit, and can get as many again in the next hour', () => {
    const throttle = open({ perHour: 3 });
    const consume = (count: number) => throttle.consume(`192.0.2.${count}`, `person-${count}@example.com`);
    for (const count of [1, 2, 3]) consume(count);
    expect(() => consume(4)).toThrow(/Try again in 60 minutes/);
    clock.now = new Date(clock.now.getTime() + HOUR_MS);
    for (const count of [4, 5, 6]) consume(count);
    expect(isRefused(() => consume(7))).toBe(true);
  });

  it('refused requests use up none of the hour’s mails', () => {
    const throttle = open({ perHour: 3, perNetwork: 2 });
    const consume = (ip: string) => isRefused(() => throttle.consume(ip, 'jo@example.com'));
    expect(['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.1', '198.51.100.2'].map(consume)).toEqual([
      false,
      false,
      true,
      true,
      false,
    ]);
  });

  it('links to keys are still mailed when signups are used up', async () => {
    await using front = await startFront({
      mailLimits: { perHour: 8, perDomain: 1000, perNetwork: 1000, perAddress: 1000 },
    });
    const post = async (url: string, count: number) => {
      const payload = { email: `person-${count}@example.com`, terms: true };
      const remoteAddress = `198.51.${count}.1`;
      return (await front.app.inject({ method: 'POST', url, payload, remoteAddress })).statusCode;
    };
    const statuses = [];
    for (let count = 0; count < 5; count++) statuses.push(await post('/signup', count));
    for (let count = 0; count < 3; count++) statuses.push(await post('/keys/link', count));
    expect(statuses).toEqual([202, 202, 202, 202, 429, 202, 202, 429]);
  });
});

it('the throttle remembers nothing of refused requests, so that its memory is bounded', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const heapBytes = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const throttle = open({ perHour: 100 });
  const before = heapBytes();
  for (let count = 0; count < 20_000; count++) {
    const hex = count.toString(16).padStart(8, '0');
    try {
      throttle.consume(`2001:${hex.slice(0, 4)}:${hex.slice(4)}::1`, `person-${hex}@example.com`);
    } catch {
      // Refused, as expected after the first hundred.
    }
  }
  expect(heapBytes() - before).toBeLessThan(2_000_000);
  expect(isRefused(() => throttle.consume('192.0.2.1', 'jo@example.com'))).toBe(true);
});
