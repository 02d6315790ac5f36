import type { PatternNode, StopNode } from '../network/network-index.ts';
import { seedOf } from '../trait.ts';
import { lineNotices, type Notice } from './line-notice.ts';
import { stopNotices } from './stop-notice.ts';

/** An element of `infos`, the same on departures and on legs. */
export interface Alert {
  priority: Notice['priority'];
  id: string;
  version: number;
  type: Notice['type'];
  properties: Record<string, string>;
  infoLinks: object[];
  urlText?: string;
  url?: string;
  content?: string;
  subtitle?: string;
}

/** Notices of the line first, then of the stops; always the same for the same line and stop. */
export function alertsFor(pattern: PatternNode, stops: readonly StopNode[]): Alert[] {
  const productClass = pattern.line.product.class;
  return [
    ...lineNotices(pattern).map((notice) => alertShape(notice)),
    ...stops.flatMap((stop) => stopNotices(stop, productClass).map((notice) => alertShape(notice, stop))),
  ];
}

function alertShape(notice: Notice, home?: StopNode): Alert {
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
