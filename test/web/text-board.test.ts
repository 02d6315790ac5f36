import { expect, it } from 'vitest';
import { startPlayedSandbox } from '#test/realtime/service/played-service.ts';
import { buildTestApp } from '#test/support/app.ts';

it('a text board says when each vehicle reaches the stop in `to`, and what has no effect on the board', async () => {
  const sandbox = await startPlayedSandbox('2026-11-19T21:00:20Z');
  const app = await buildTestApp({ upstream: sandbox.callUpstream, now: '2026-11-19T21:00:20Z' });
  try {
    const query = 'modes=train&limit=3';
    const { departures } = (await app.inject(`/v1/departures?stop=200060&to=200070&${query}`)).json();
    const sydney = (moment: string) =>
      new Date(moment).toLocaleTimeString('sv-SE', { timeZone: 'Australia/Sydney' }).slice(0, 5);
    const wanted = departures.map((one: Record<'arrives_at' | 'arrives_at_realtime', string>) =>
      sydney(one.arrives_at_realtime ?? one.arrives_at),
    );
    const textOf = async (path: string) => (await app.inject({ url: path, headers: { accept: '*/*' } })).body;
    const board = await textOf(`/board/200060?to=200070&${query}`);
    expect([...board.matchAll(/Platform \d+ +there (\d\d:\d\d)$/gm)].map(([, time]) => time)).toEqual(wanted);
    expect(wanted.length).toBe(3);
    expect(await textOf(`/board/200060?${query}`)).not.toContain('there');
    expect(await textOf('/board/200060?bbox=1')).toContain('Unknown parameter `bbox`. /board/{stop} takes stop');
  } finally {
    await app.close();
    await sandbox.close();
  }
});
