import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Front, startFront } from '../../support/front.ts';

let front: Front;
beforeAll(async () => {
  front = await startFront({ mailLimits: { perHour: 1e6, perNetwork: 1e6, perAddress: 1e6 } });
});
afterAll(() => front[Symbol.asyncDispose]());

const NASTY = [
  '\r\nBcc: victim@example.com',
  '\n\nTo: victim@example.com',
  '%0d%0aBcc: victim@example.com',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' OR 1=1 --",
  ', victim@example.com',
  ';victim@example.com',
  ' <victim@example.com>',
  '\u0000',
  '\u202Egnp.exe',
  '💥',
  'ｅｘａｍｐｌｅ．ｃｏｍ',
  '=?utf-8?B?QmNjOiB2aWN0aW0=?=',
  '\x24{7*7}',
  'a'.repeat(10_240),
];

const piece = fc.oneof(
  fc.constantFrom(...NASTY),
  fc.constantFrom('jo', 'jo@example.com', '@', 'example.com', 'jo+x@example.com', 'Jo "x" <jo@example.com>'),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const text = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(''));
const value = fc.oneof(
  { weight: 8, arbitrary: text },
  { weight: 1, arbitrary: fc.array(text, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.jsonValue() },
);
const form = fc.record(
  {
    email: fc.oneof(
      value,
      fc.nat(200).map((n) => `person-${n}@example.com`),
    ),
    label: value,
    terms: fc.oneof(fc.constant('on'), value),
  },
  { requiredKeys: [] },
);
const accept = fc.constantFrom('text/html', '*/*');
const encoding = fc.constantFrom('form', 'json');

it('hostile signups cause no 5xx, no script, no second recipient, and no text of theirs in a mail', async () => {
  let mails = 0;
  await fc.assert(
    fc.asyncProperty(form, accept, encoding, async (fields, accepted, encoded) => {
      const payload =
        encoded === 'json'
          ? JSON.stringify(fields)
          : new URLSearchParams(
              Object.entries(fields).flatMap(([name, one]) =>
                [one]
                  .flat()
                  .map((part): [string, string] => [name, typeof part === 'string' ? part : JSON.stringify(part)]),
              ),
            ).toString();
      const type = encoded === 'json' ? 'application/json' : 'application/x-www-form-urlencoded';
      const response = await front.app.inject({
        method: 'POST',
        url: '/signup',
        headers: { accept: accepted, 'content-type': type },
        payload,
      });
      expect([202, 303, 400, 413]).toContain(response.statusCode);
      if (response.statusCode < 400) mails += 1;
      expect(response.body.replaceAll(/<script type="module" src="\/assets\/\w+\.js"><\/script>/g, '')).not.toMatch(
        /<script|<img src=x/i,
      );
    }),
    { numRuns: 1000 },
  );

  const outbox = await front.readOutbox();
  expect(outbox).toHaveLength(mails);
  expect(mails).toBeGreaterThan(20);
  for (const mail of outbox) {
    expect(mail.to).toEqual([{ name: '', address: expect.stringMatching(/^[\w.+'-]+@[a-z0-9.-]+$/) }]);
    expect([mail.cc, mail.bcc]).toEqual([undefined, undefined]);
    expect(JSON.stringify(mail.headers)).not.toMatch(/victim|script/);
    expect(`${mail.subject}${mail.text}${mail.html}`).not.toMatch(/<script|onerror|victim/);
  }
});
