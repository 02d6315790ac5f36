// Search over the documentation: words, parts of words, and synonyms. Does not touch the page.
const MAX_FOUND = 12;
const IGNORED = new Set(
  'a an and are can do does for from how i in is it my of on or the to what when which with'.split(' '),
);

// Maps words that people type to words in the documentation. Several words on the left are joined.
const MEANINGS = {
  gps: 'vehicles position',
  jwt: 'tokens',
  ios: 'mobile swift apps',
  iphone: 'mobile ios swift',
  android: 'mobile kotlin apps',
  offline: 'without network',
  react: 'browsers browser',
  vue: 'browsers browser',
  postman: 'openapi clients',
  insomnia: 'openapi clients',
  uptime: 'status',
  sla: 'status',
  opal: 'fares',
  ticket: 'fares',
  historical: 'past',
  history: 'past',
  trackwork: 'alerts',
  csv: 'ndjson',
  arduino: 'paper wall',
  esp32: 'paper wall',
  attribution: 'credit cc',
  licence: 'credit cc',
  license: 'credit cc',
  unknown: 'not_found',
  multiple: 'several',
  bus: 'modes',
  train: 'modes',
  ferry: 'modes',
  metro: 'modes',
  tram: 'lightrail modes',
  javascript: 'clients browser typescript',
  node: 'clients typescript',
  curl: 'quickstart',
  email: 'mail key',
  upgrade: 'plan plans',
  countdown: 'minutes_away',
  unix: 'utc time',
  timestamp: 'utc time',
  accessibility: 'wheelchair',
  accessible: 'wheelchair',
  apikey: 'key unauthorized bearer',
  authentication: 'key unauthorized bearer',
  authorization: 'key unauthorized bearer',
  login: 'key unauthorized',
  password: 'key',
  token: 'key unauthorized bearer',
  arrive: 'arrive_by',
  arrival: 'arrivals arrive_by arrives_at',
  autocomplete: 'search',
  geocode: 'search position',
  lookup: 'search',
  backoff: 'retry again wait',
  retry: 'again',
  outage: 'fails failed upstream',
  down: 'fails failed upstream',
  breaking: 'change',
  version: 'change',
  deprecation: 'change',
  cache: 'fresh max-age stale etag',
  caching: 'fresh max-age stale etag',
  chatgpt: 'assistants',
  claude: 'assistants',
  llm: 'assistants',
  ai: 'assistants',
  closest: 'nearby nearest',
  nearest: 'nearby',
  connection: 'changes',
  transfer: 'changes max_changes min_change',
  interchange: 'changes max_changes min_change',
  walking: 'pace max_walk',
  crossorigin: 'cors origin browser',
  crowding: 'occupancy',
  crowded: 'occupancy',
  full: 'occupancy',
  seats: 'occupancy',
  delay: 'live late realtime',
  late: 'live realtime',
  punctual: 'live realtime',
  realtime: 'live tracked',
  daylightsaving: 'nights clocks time',
  dst: 'nights clocks time',
  directions: 'trips journeys',
  itinerary: 'trips journeys',
  route: 'trips',
  planner: 'trips journeys',
  journey: 'trips',
  display: 'wall paper board',
  widget: 'wall board',
  screen: 'wall board',
  kiosk: 'wall board',
  disruption: 'alerts',
  incident: 'alerts',
  notice: 'alerts',
  free: 'plans',
  tier: 'plans',
  price: 'plans limits',
  pricing: 'plans limits',
  billing: 'plans limits',
  cost: 'plans limits counts',
  subscription: 'plans',
  quota: 'limits requests',
  ratelimit: 'limits too_many_requests second',
  throttling: 'limits too_many_requests second',
  burst: 'limits too_many_requests second',
  gtfs: 'trip_id run color',
  lat: 'latitude coordinates',
  lon: 'lng longitude coordinates',
  latitude: 'lat coordinates',
  longitude: 'lng coordinates',
  mock: 'sandbox',
  fake: 'sandbox',
  test: 'sandbox',
  demo: 'sandbox',
  offset: 'limit page',
  pagination: 'limit page',
  nextpage: 'limit page',
  paging: 'limit page',
  push: 'streams',
  sse: 'streams',
  webhook: 'streams',
  websocket: 'streams',
  subscribe: 'streams',
  revoke: 'ends replaced',
  rotate: 'ends replaced',
  sdk: 'clients generators',
  library: 'clients',
  swagger: 'openapi',
  console: 'try',
  playground: 'try',
  station: 'stops platforms identifiers',
  stepfree: 'wheelchair',
  lift: 'wheelchair',
  timezone: 'time sydney utc',
  gmt: 'time utc',
};

/** Builds the search index from the entries of search.json. */
export function prepare(entries) {
  const prepared = entries.map((entry) => ({
    entry,
    // Only a field's own name counts: "departures[].route" is about the route.
    heading: wordsOf(entry.heading.split('.').at(-1)),
    page: wordsOf(entry.page),
    text: wordsOf(entry.text),
  }));
  return { prepared, all: prepared.map(({ heading, page, text }) => [...new Set([...heading, ...page, ...text])]) };
}

/** Returns the entries that match the typed text, best first. */
export function find(index, typed) {
  const words = readQuery(typed);
  if (words.length === 0) return [];
  const rarities = words.map((word) => rarityOf(index, word));
  const scored = index.prepared.map(({ entry, ...places }) => {
    const scores = words.map((word, n) => rarities[n] * scoreOf(places, word));
    const found = scores.filter((score) => score > 0).length / words.length;
    return { entry, score: found ** 2 * scores.reduce((sum, score) => sum + score, 0) };
  });
  const best = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  // Boards repeat fields and parameters of departures, so show each once.
  const shown = new Map(best.map(({ entry }) => [`${entry.heading.split('.').at(-1)} ${entry.text}`, null]));
  const results = [];
  for (const { entry } of best) {
    const name = `${entry.heading.split('.').at(-1)} ${entry.text}`;
    if (shown.delete(name)) results.push(entry);
    if (results.length === MAX_FOUND) break;
  }
  return results;
}

/** Returns the first typed word, to show the text around it. */
export function firstWord(typed) {
  return readQuery(typed)[0]?.own ?? '';
}

function wordsOf(text) {
  const parts = text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  return parts.flatMap((word) => (word.includes('_') ? [word, ...word.split('_')] : [word]));
}

// Joins words that belong together, such as "real time" and "api key".
function readQuery(typed) {
  const words = wordsOf(typed).filter((word) => !IGNORED.has(word));
  const read = [];
  for (let index = 0; index < words.length; index++) {
    const pair = words[index] + (words[index + 1] ?? '');
    const isPair = index + 1 < words.length && Object.hasOwn(MEANINGS, pair);
    const own = isPair ? pair : words[index];
    if (isPair) index++;
    read.push({ own, stem: stemOf(own), others: meaningsOf(own) });
  }
  return read;
}

function meaningsOf(word) {
  const name = [word, stemOf(word)].find((form) => Object.hasOwn(MEANINGS, form));
  return name ? MEANINGS[name].split(' ') : [];
}

function stemOf(word) {
  return word.length > 4 ? word.replace(/(?:ies|ing|ed|es|s)$/, '') : word;
}

function rarityOf({ all }, { own, stem, others }) {
  const having = all.filter(
    (words) => matchIn(words, own, stem) > 0 || others.some((synonym) => words.includes(synonym)),
  ).length;
  return Math.log(1 + all.length / (1 + having));
}

function scoreOf({ heading, page, text }, { own, stem, others }) {
  const inPlace = (words) =>
    Math.max(
      matchIn(words, own, stem),
      ...others.map((synonym, n) => matchIn(words, synonym, synonym) * (0.8 - n * 0.05)),
    );
  return (
    (8 + 2 / (heading.length || 1)) * inPlace(heading) +
    3 * inPlace(page) +
    2 * inPlace(text) +
    Math.min(4, countIn(text, stem)) / 2
  );
}

function countIn(words, stem) {
  return words.filter((word) => word.startsWith(stem)).length;
}

// Matches the whole word, its beginning, or a part of it.
function matchIn(words, own, stem) {
  let best = 0;
  for (const word of words) {
    if (word === own) return 1;
    if (stem.length >= 3 && word.startsWith(stem)) best = Math.max(best, 0.5 + (0.4 * stem.length) / word.length);
    else if (stem.length >= 4 && word.includes(stem)) best = Math.max(best, 0.3);
  }
  return best;
}
