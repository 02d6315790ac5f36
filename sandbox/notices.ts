import type { PatternNode, PointNode, StopNode } from './network/network-index.ts';
import { seedOf, trait } from './trait.ts';

/** A notice as upstream publishes it, and where it appears. */
export interface Notice {
  id: string;
  priority: 'veryLow' | 'low' | 'normal' | 'high' | 'veryHigh';
  type: 'lineInfo' | 'stopInfo' | 'infrastructure' | 'tripMessage';
  /** Fields that only the list of all notices has; by default a change of service without a cause. */
  listed?: {
    announcementType?: 'trackwork' | 'liftsEscalators';
    EquipmentReason?: 'liftFailure';
    MiscellaneousReason?: 'roadworks';
  };
  subtitle: string;
  content: string;
  /** The plain text of `content`; many notices have none. */
  speech?: string;
  /** Whether the alert has its text in `infoLinks` only, as alerts of trackwork have. */
  isInLinksOnly?: true;
}

/** A notice for the lines of a product class, with the share of these lines that have it. */
type LineNotice = Omit<Notice, 'type'> & { productClass: number; share: number };

const NBSP = '\u00a0';

const ROADWORKS: LineNotice = {
  productClass: 5,
  share: 0.25,
  id: 'ems-80417',
  priority: 'normal',
  listed: { MiscellaneousReason: 'roadworks' },
  subtitle: 'Stop closed: roadworks on the way, expect delays',
  content: 'Roadworks close a lane on weekdays between 9am and 3pm.\nBuses may run up to 8 minutes late.',
};

const LINE_NOTICES: readonly LineNotice[] = [
  {
    // The subtitle only names lines; the message is in the content.
    productClass: 1,
    share: 0.45,
    id: '7d0c9be2f14a5530c368e7ab08dac60f665d1a90',
    priority: 'normal',
    subtitle: 'Airport & South Line, Eastern Suburbs & Illawarra Line, Western Line',
    content:
      'Trains are running late after a medical emergency at Redfern earlier.\n\nAllow extra travel time and listen for announcements.\n\nStops and platforms may change at short notice.  ',
    speech:
      'Trains are running late after a medical emergency at Redfern earlier.\n\nAllow extra travel time and listen for announcements.',
  },
  {
    productClass: 1,
    share: 0.3,
    id: 'ems-81204',
    priority: 'normal',
    listed: { announcementType: 'trackwork' },
    subtitle: 'Trackwork: buses replace some late trains & services may start elsewhere',
    content:
      '<div><strong>Nightly from 10.30pm to 2am</strong></div>\n<ul>\n<li>Some trains don&rsquo;t run between the city &amp; the inner west.<br />Use the replacement buses.</li>\n<li>Plan ahead at <a href="https://transportnsw.info/trip">transportnsw.info</a>.&nbsp;</li>\n</ul>',
    speech: "Some trains don't run between the city and the inner west. Use the replacement buses.",
    isInLinksOnly: true,
  },
  {
    productClass: 1,
    share: 0.5,
    id: 'ems-212',
    priority: 'veryLow',
    subtitle: 'Platforms may change, check the indicator boards',
    content: '<div>Please check the boards &amp; listen for announcements.</div>',
  },
  {
    productClass: 2,
    share: 0.5,
    id: 'ems-80031',
    priority: 'normal',
    subtitle: `Metro trains start later this Sunday${NBSP}`,
    content:
      '<p>The first trains run from 6am. Early in the morning, use bus routes&nbsp;that call at the stations.</p>',
    speech: 'The first trains run from 6am. Early in the morning, use bus routes that call at the stations.',
  },
  {
    productClass: 4,
    share: 0.4,
    id: 'ems-79911',
    priority: 'normal',
    subtitle: 'Running late',
    content: 'Light rail is running up to 10 minutes late in both directions.\n\nA car blocked the tracks earlier.',
    speech: 'Light rail is running up to 10 minutes late in both directions. A car blocked the tracks earlier.',
  },
  ROADWORKS,
  // The same text under another identifier and in another place, as upstream repeats its notices.
  { ...ROADWORKS, id: 'ems-80418', isInLinksOnly: true },
  {
    productClass: 7,
    share: 0.5,
    id: 'ems-301',
    priority: 'veryLow',
    subtitle: 'Booking is required on this coach',
    content:
      '<div>Seats are booked at stations or at <a href="https://transportnsw.info/regional">transportnsw.info</a>.</div>',
  },
  {
    productClass: 9,
    share: 0.8,
    id: 'ems-161',
    priority: 'veryLow',
    subtitle: 'Wharf of departure or arrival may change at short notice',
    content: '<div>Please look at the screens on the wharf and listen for announcements.</div>',
  },
];

/** The notices of a line, the same on every call. Notices with equal subtitles are on the same lines. */
export function lineNotices({ line }: PatternNode): Notice[] {
  return LINE_NOTICES.filter(
    ({ productClass, share, subtitle }) =>
      productClass === line.product.class && trait(seedOf(line.id + subtitle), 1) < share,
  ).map(({ productClass: _class, share: _share, ...notice }) => ({ ...notice, type: 'lineInfo' }));
}

const LIFT = { announcementType: 'liftsEscalators', EquipmentReason: 'liftFailure' } as const;
const LIFT_SHARE = 0.15;
const STATION_SHARE = 0.1;

/** Notices about lifts and entrances of a station, on trains and metros only. */
export function stopNotices(stop: StopNode, productClass: number): Notice[] {
  if (productClass !== 1 && productClass !== 2) return [];
  const seed = seedOf(stop.id);
  const notices: Notice[] = [];
  if (stop.wheelchairAccess && trait(seed, 1) < LIFT_SHARE) {
    const subtitle = `${stop.name} lift between the concourse and street level is not available`;
    const content = `At ${stop.name} the lift between the concourse and street level is temporarily out of service.\n\nIf you need help, ask staff or phone 131 500.`;
    const id = `ems-${70_000 + (seed >>> 17)}`;
    notices.push({ id, priority: 'low', type: 'infrastructure', listed: LIFT, subtitle, content, speech: content });
  }
  if (trait(seed, 2) < STATION_SHARE) {
    const subtitle = `Station Update - ${stop.locality}`;
    const content = `<p>The northern entrance of ${stop.name} is closed for upgrades. Use the main entrance &amp; allow extra time.</p>`;
    const speech = `The northern entrance of ${stop.name} is closed for upgrades. Use the main entrance and allow extra time.`;
    const id = `ems-${60_000 + (seed >>> 18)}`;
    notices.push({ id, priority: 'normal', type: 'stopInfo', subtitle, content, speech });
  }
  return notices;
}

/** The elements of `infos` on a departure or a leg: notices of the line, then of the stops. */
export function alertsFor(pattern: PatternNode, stops: readonly StopNode[]): object[] {
  const productClass = pattern.line.product.class;
  return [
    ...lineNotices(pattern).map((notice) => alertShape(notice)),
    ...stops.flatMap((stop) => stopNotices(stop, productClass).map((notice) => alertShape(notice, stop))),
  ];
}

/** One element of `infos`; `home` is the stop that it is about. */
export function alertShape(notice: Notice, home?: StopNode) {
  const { id, priority, type, subtitle, content, speech, isInLinksOnly } = notice;
  // A lift leads to the platforms of trains, not to the bus stands.
  const isAffected = ({ calls }: PointNode) =>
    notice.listed !== LIFT || calls.some(({ pattern }) => pattern.line.product.class <= 2);
  const points = home?.points.filter(isAffected).map((point) => point.id);
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
      ...(home !== undefined && { stopIDglobalID: `${home.id}:${points}` }),
      ...(!isInLinksOnly && otherTexts),
    },
    infoLinks: [{ ...texts, ...otherTexts }],
    ...(!isInLinksOnly && texts),
  };
}
