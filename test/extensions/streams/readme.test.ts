import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PLANS } from '#src/access/plan.ts';

it('the README lists the streams that each plan allows', () => {
  const readme = readFileSync('README.md', 'utf8');
  for (const { title, dailyLimit, rate, streams } of Object.values(PLANS)) {
    const [name, day] = [title.toLowerCase(), dailyLimit?.toLocaleString('en') ?? 'unlimited'];
    const shortTerm = rate ? `${rate.perSecond}, with bursts of ${rate.burst}` : 'unlimited';
    expect(readme).toContain(`| ${name} | ${day} | ${shortTerm} | ${streams.toLocaleString('en')} |`);
  }
});
