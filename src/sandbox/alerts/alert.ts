import type { PatternNode, StopNode } from '../network/network-index.ts';
import { seedOf } from '../trait.ts';
import { lineNotices, type Notice, stopNotices } from './notices.ts';

/** The elements of `infos` on a departure or a leg: notices of the line, then of the stops; always the same for these. */
export function alertsFor(pattern: PatternNode, stops: readonly StopNode[]): object[] {
  const productClass = pattern.line.product.class;
  return [
    ...lineNotices(pattern).map((notice) => alertShape(notice)),
    ...stops.flatMap((stop) => stopNotices(stop, productClass).map((notice) => alertShape(notice, stop))),
  ];
}

/** One element of `infos`; `home` is the stop that it is about. */
export function alertShape(notice: Notice, home?: StopNode): object {
  const { id, priority, type, subtitle, content, speech, isInLinksOnly } = notice;
  const texts = { urlText: subtitle, url: `https://transportnsw.info/alerts/details#/${id}`, content, subtitle };
  const otherTexts = { smsText: subtitle, ...(speech !== undefined && { speechText: speech }) };
  return {
    priority,
    id,
    version: 1 + (seedOf(id) >>> 20),
    type,
    properties: {
      publisher: 'ems.comm.addinfo',
      infoType: type,
      ...(priority !== 'veryLow' && { appliesTo: 'departingArriving' }),
      ...(home !== undefined && {
        stopIDglobalID: `${home.stop.id}:${home.points.map((node) => node.point.id).join(',')}`,
      }),
      ...(!isInLinksOnly && otherTexts),
    },
    infoLinks: [{ ...texts, ...otherTexts }],
    ...(!isInLinksOnly && texts),
  };
}
