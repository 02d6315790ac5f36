import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PLANS } from '#src/access/plan.ts';
import { departuresOperation } from '#src/departures/operation.ts';
import { ERROR_DOCS } from '#src/errors/docs.ts';

const [free, developer, pro] = Object.values(PLANS).map(({ streams }) => streams.toLocaleString('en'));

it.each([
  ['OpenAPI', departuresOperation.stream?.description, `free ${free}, developer ${developer}, pro ${pro}`],
  [
    'the page of the error',
    ERROR_DOCS.TOO_MANY_REQUESTS.cause,
    `${free} on the free plan, ${developer} on developer, ${pro} on pro`,
  ],
  [
    'docs/guide/streams.md',
    readFileSync('docs/guide/streams.md', 'utf8'),
    `${free} open streams on the free plan, ${developer} on developer, ${pro} on pro`,
  ],
  [
    'README.md',
    readFileSync('README.md', 'utf8'),
    [
      `| free | 1,000 | 10, after 60 at once | ${free} |`,
      `| developer | 50,000 | 50, after 300 at once | ${developer} |`,
      `| pro | unlimited | unlimited | ${pro} |`,
    ].join('\n'),
  ],
])('%s says how many streams each plan allows', (_where, text, told) => {
  expect(text).toContain(told);
});
