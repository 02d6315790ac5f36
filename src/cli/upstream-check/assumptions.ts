/** An assumption about upstream that only a real key can verify. */
interface Assumption {
  says: string;
  /** Its evidence: recorded responses, another client's code, or the manual. */
  evidence: 'recorded' | 'said by a client' | 'documented';
  /** What callers see if it is wrong. */
  breaks: string;
  /** `silent`: responses would be wrong and look right; `loud`: requests fail; `cost`: calls are wasted, or fewer are left. */
  harm: 'silent' | 'loud' | 'cost';
  /** What the operator should do if upstream differs. */
  action: string;
}

const REPORT = 'Report it; do not start before it is mended.';

/** Assumptions by the damage if they are wrong, worst first. */
export const ASSUMPTIONS = {
  'requested-times-are-sydney': {
    says: 'The date and time of a request are Sydney local time.',
    evidence: 'recorded',
    breaks: 'Boards and journeys for a given time are ten or eleven hours too late.',
    harm: 'silent',
    action: `Do not start: times would be wrong by the offset. ${REPORT}`,
  },
  'full-page-is-40': {
    says: 'A full board has 40 events, and a shorter one means that nothing leaves later.',
    evidence: 'recorded',
    breaks: 'Boards from the trip planner end early.',
    harm: 'silent',
    action: REPORT,
  },
  'unknown-is-200': {
    says: 'An unknown stop comes as status 200 with the message -2000.',
    evidence: 'recorded',
    breaks: 'Callers get 502 or an empty board where they should get 404.',
    harm: 'loud',
    action: REPORT,
  },
  'empty-is-not-unknown': {
    says: 'A known stop without departures has an empty board with its name.',
    evidence: 'recorded',
    breaks: 'Stops vanish from nearby at night, and their boards are 404.',
    harm: 'silent',
    action: REPORT,
  },
  'filters-hold': {
    says: 'excludedMeans=checkbox with exclMOT_… excludes these vehicle classes.',
    evidence: 'recorded',
    breaks: 'Boards of one mode need more calls and may end early.',
    harm: 'silent',
    action: REPORT,
  },
  'feed-ids-match': {
    says: 'Runs in the feeds have the IDs that boards return as realtimeTripId or AVMSTripID.',
    evidence: 'recorded',
    breaks: 'Boards from the timetable show planned times for tracked vehicles.',
    harm: 'silent',
    action: 'Set TIMETABLE=off: all boards come from the trip planner. Report it.',
  },
  'only-401-refuses-a-key': {
    says: 'A wrong key is refused with 401.',
    evidence: 'recorded',
    breaks: 'A wrong key looks like an outage, or is not noticed.',
    harm: 'loud',
    action: 'Watch UpstreamFails as well as UpstreamKeyRefused. Report it.',
  },
  'daily-quota': {
    says: 'A key may make 60,000 calls a UTC day.',
    evidence: 'documented',
    breaks: 'Calls are refused in the evening, or calls that are paid for are not used.',
    harm: 'cost',
    action: 'Set UPSTREAM_DAILY_BUDGET to the number in the headers.',
  },
  'two-filters-in-one-coord': {
    says: 'One coord request lists platforms (BUS_POINT) and stops (STOP).',
    evidence: 'documented',
    breaks: 'Nearby lacks stops or their modes.',
    harm: 'silent',
    action: REPORT,
  },
  'canberra-is-served': {
    says: 'Stops of Canberra are found around a position.',
    evidence: 'recorded',
    breaks: 'Nearby is empty in Canberra.',
    harm: 'silent',
    action: 'Say in the documentation that Canberra is not covered.',
  },
  'group-and-platform-ids': {
    says: 'Boards and search accept the IDs of groups (G201023) and platforms (2000337).',
    evidence: 'said by a client',
    breaks: 'Stops that nearby and search list have no board.',
    harm: 'loud',
    action: REPORT,
  },
  'order-of-requested-boards': {
    says: 'Boards for a given time are ordered by the timetable.',
    evidence: 'documented',
    breaks: 'Two minutes of overlap between pages may not be enough for late vehicles.',
    harm: 'silent',
    action: REPORT,
  },
  'sizes-and-times': {
    says: 'A response has at most 6 MB and comes within 8 seconds.',
    evidence: 'recorded',
    breaks: 'Requests fail with 502 or 504.',
    harm: 'loud',
    action: 'Where responses are slow, raise the timeout in core/clock.ts; report sizes.',
  },
  'trip-options': {
    says: 'Journey requests accept wheelchair=on, positions and excluded modes; an unknown end returns a message.',
    evidence: 'documented',
    breaks: 'Journeys are not accessible, begin elsewhere, or use modes that were excluded.',
    harm: 'silent',
    action: REPORT,
  },
  'search-takes-any-text': {
    says: 'Search accepts any text: IDs, apostrophes, nonsense, typos.',
    evidence: 'recorded',
    breaks: 'Searches fail with 502.',
    harm: 'loud',
    action: REPORT,
  },
  arrivals: {
    says: 'depArrMacro=arr lists arrivals.',
    evidence: 'documented',
    breaks: '/v1/arrivals responds with 502.',
    harm: 'loud',
    action: 'Report it; nothing else uses it.',
  },
  'calls-of-a-run': {
    says: 'depType=stopEvents&includeCompleteStopSeq=1 adds the calls of each run to a board.',
    evidence: 'said by a client',
    breaks: 'Boards from the trip planner have no calls, and those with `to` respond with 502.',
    harm: 'loud',
    action: REPORT,
  },
  'notices-by-add-info': {
    says: 'add_info lists the current notices.',
    evidence: 'recorded',
    breaks: '/v1/alerts responds with an error, or with an empty list.',
    harm: 'loud',
    action: REPORT,
  },
  'car-parks': {
    says: 'Car parks are listed by ID and described one by one, with counts of spaces and Sydney local times.',
    evidence: 'recorded',
    breaks: '/v1/carparks responds with 503, or its readings are null.',
    harm: 'loud',
    action: 'Set WITHOUT=carparks. Report it.',
  },
} as const satisfies Record<string, Assumption>;

export type AssumptionId = keyof typeof ASSUMPTIONS;

export const ASSUMPTION_IDS = Object.keys(ASSUMPTIONS) as AssumptionId[];
