import { expect, it } from 'vitest';
import { loadNetwork } from '#sandbox/network/gtfs-network.ts';
import { board, type Info, sandboxAt, trip } from '../requests.ts';

const TEXTS = ['urlText', 'url', 'content', 'subtitle'];
const CENTRAL = '200060';
const LEPPINGTON = '217933';

function unique(infos: Info[]): Info[] {
  return [...new Map(infos.map((info) => [info.id, info])).values()];
}

it('every sandbox alert has its text in infoLinks, and some repeat it at the top', async () => {
  const sandbox = await sandboxAt('2026-11-17T21:00:00Z', { network: loadNetwork() });
  const { stopEvents = [] } = await board(sandbox, CENTRAL);
  const { journeys = [] } = await trip(sandbox, CENTRAL, LEPPINGTON);
  const onBoard = unique(stopEvents.flatMap((event) => event.infos ?? []));
  const inJourneys = unique(journeys.flatMap(({ legs }) => legs.flatMap((leg) => leg.infos)));

  for (const infos of [onBoard, inJourneys]) {
    for (const { infoLinks } of infos) expect(Object.keys(infoLinks[0] ?? {})).toEqual(expect.arrayContaining(TEXTS));
    const [inLinksOnly, atTheTop] = [
      infos.filter((info) => !('subtitle' in info)),
      infos.filter((info) => 'subtitle' in info),
    ];
    expect(inLinksOnly.length).toBeGreaterThan(0);
    expect(atTheTop.length).toBeGreaterThan(0);
    for (const info of inLinksOnly) expect(TEXTS.filter((text) => text in info)).toEqual([]);
    for (const info of atTheTop) expect(info).toMatchObject({ subtitle: info.infoLinks[0]?.subtitle });
  }
});
