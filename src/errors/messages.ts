import type { MissingTimetable } from '../transit/missing-timetable.ts';
import { quote, withoutBrackets } from '../transit/parameter.ts';
import { toSydneyClock } from '../transit/time.ts';
import { ApiError, type ApiErrorOptions, type ErrorCode, withSentence } from './api-error.ts';

/**
 * The errors that the documentation quotes, one function each. Routes throw the returned errors, and the error pages and
 * OpenAPI show them for example values, so the two cannot differ.
 */

/** An error that always has the same message. */
function fixed(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
  return (cause?: unknown) => new ApiError(code, message, { ...options, cause });
}

/** Headers for a temporary error. */
function retryAfter(seconds: number) {
  return { headers: { 'retry-after': String(seconds) } };
}

/** Options of a 503 that passes soon. */
const overloaded = { unavailable: 'overload', ...retryAfter(5) } as const;

export interface ParameterProblem {
  parameter: string;
  /** The value as received; undefined if the parameter is missing or the text already quotes it. */
  value?: unknown;
  /** Begins with a verb: "must be a whole number from 1 to 50". Absent if `hint` is the whole message. */
  allowed?: string | undefined;
  /** One or more sentences that say what to do instead. */
  hint?: string | undefined;
}

/** One message for all problems: for each the parameter, what is allowed, the received value (once per parameter) and a hint. */
export function invalidParameters(problems: readonly ParameterProblem[]): ApiError {
  const sentences = problems.flatMap(({ parameter, value, allowed, hint }, index) => {
    const isFirst = problems.findIndex((problem) => problem.parameter === parameter) === index;
    const received = value === undefined || !isFirst ? '' : `, not ${quote(value)}`;
    return [allowed === undefined ? [] : `\`${parameter}\` ${allowed}${received}.`, hint ?? []].flat();
  });
  return new ApiError('INVALID_PARAMETER', sentences.join(' '), namesOf(problems));
}

/** The names of the parameters for the log, without the caller's text in brackets after them. */
function namesOf(problems: readonly ParameterProblem[]) {
  const names = new Set(problems.map(({ parameter }) => withoutBrackets(parameter)));
  return { logFields: { parameter: [...names].join(', ') } };
}

/** Both dates as `YYYYMMDD`. */
export function pastDate(parameter: 'date' | 'time', date: string, yesterday: string): ApiError {
  return new ApiError(
    'DATE_OUT_OF_RANGE',
    `\`${parameter}\` ${date} is too far in the past. It must be yesterday (${yesterday} in Sydney) or later.`,
    namesOf([{ parameter }]),
  );
}

/** `date` is the requested day, null for today; `lastDay` is the timetable's, null if unknown. Both as `YYYYMMDD`. */
export function beyondTimetable(date: string | null, lastDay: string | null = null): ApiError {
  const day = date === null ? 'Today' : `The day ${date}, from \`date\` or \`time\`,`;
  const message = `${day} is outside the published timetable.`;
  return withLastDay(new ApiError('DATE_OUT_OF_RANGE', message, namesOf([{ parameter: 'date' }])), lastDay);
}

/** Adds the last day of the timetable to the trip planner's refusal of a day. Other errors stay as they are. */
export function withLastDay<Thrown>(error: Thrown, lastDay: string | null): Thrown | ApiError {
  if (!(error instanceof ApiError) || error.code !== 'DATE_OUT_OF_RANGE' || lastDay === null) return error;
  return withSentence(error, `The timetable ends on ${lastDay}.`);
}

const SEND_KEY = 'Send your API key in the Authorization header as a Bearer token: "Authorization: Bearer YOUR_KEY".';

/** `problem` is a sentence on what is wrong with the key, `logged` the same for the log. Neither contains the key. */
export function unauthorized(problem: string, options: { wasKeySent: boolean; logged: string }): ApiError {
  const { wasKeySent, logged } = options;
  const challenge = 'Bearer realm="transit"';
  return new ApiError('UNAUTHORIZED', `${problem} ${SEND_KEY}`, {
    headers: { 'www-authenticate': wasKeySent ? `${challenge}, error="invalid_token"` : challenge },
    logFields: { problem: logged },
  });
}

export function missingKey(): ApiError {
  return unauthorized('No API key was sent.', { wasKeySent: false, logged: 'missing' });
}

/** `near` is a path that the caller may have meant, `operations` the paths to choose from. */
export function unknownPath(path: string, near: string | null, operations: readonly string[] = []): ApiError {
  // Paths of single records are left out, because they would double the length of the message.
  const lists = operations.filter((operation) => !operation.includes('{'));
  const knownLists = lists.length > 0 ? ` The API has ${LIST.format(lists)}; /docs describes them.` : '';
  const hint = near ? ` Did you mean ${near}?` : knownLists;
  return new ApiError('NOT_FOUND', `There is nothing at ${path}.${hint}`);
}

/** `conditions` are the parameters that limit the journeys; `hint` is a sentence on another possible cause. */
export function noJourneys(
  source: 'timetable' | 'planner',
  from: string,
  to: string,
  { conditions = [], hint = '' }: { conditions?: readonly string[] | undefined; hint?: string } = {},
): ApiError {
  const fitting = conditions.length > 0 ? ` that fits ${LIST.format(conditions)}` : '';
  const none =
    source === 'timetable'
      ? `No journey in the timetable from ${from} to ${to}${fitting} within three days of this time.`
      : `Transport for NSW finds no journey from ${from} to ${to} at this time${fitting}.`;
  return new ApiError('NO_JOURNEYS_FOUND', `${none}${hint && ` ${hint}`}`);
}

const LIST = new Intl.ListFormat('en-AU');

export function unknownStop(stopId: string, parameter?: string): ApiError {
  const named = parameter === undefined ? '' : ` (\`${parameter}\`)`;
  return new ApiError('STOP_NOT_FOUND', `No stop ${stopId}${named}. Find IDs with /v1/stops/search or /v1/nearby.`);
}

/** `id` is the ID of a place other than a stop. */
export function unknownPlace(id: string): ApiError {
  return new ApiError('STOP_NOT_FOUND', `No place ${id}. Find IDs with /v1/places/search.`);
}

/** For operations that only the timetable answers. `place` is a stop ID, a place ID, or `lat,lng`. */
export function notInTimetable(parameter: string, place: string): ApiError {
  return new ApiError(
    'STOP_NOT_FOUND',
    `\`${parameter}\`: the timetable has no departures at ${place}. Find stops with /v1/stops/search or /v1/nearby.`,
  );
}

/** `id` as received. */
export function unknownLine(id: string): ApiError {
  const q = encodeURIComponent(id.slice(id.indexOf('_') + 1));
  return new ApiError('LINE_NOT_FOUND', `No line ${id}. Find IDs with /v1/lines?q=${q}.`);
}

export function unknownCarPark(id: string): ApiError {
  return new ApiError('CARPARK_NOT_FOUND', `No car park ${id}. /v1/carparks lists them all.`);
}

/** Operators enable upstream's car parks separately from the trip planner and the feeds. */
export const carParksNotEnabled = fixed(
  'CARPARKS_NOT_ENABLED',
  "Car parks are not enabled on the operator's key at Transport for NSW. Everything else works.",
  { unavailable: 'product' },
);

/** `id` as received. */
export function unknownAlert(id: string): ApiError {
  const shown = quote(id);
  return new ApiError('ALERT_NOT_FOUND', `No alert ${shown}. It may have ended. /v1/alerts lists those in force.`);
}

/** For parameters that the trip planner does not have. */
export function timetableNeeded(parameters: readonly string[]): ApiError {
  return invalidParameters(
    parameters.map((parameter) => {
      const instead = parameter === 'via' ? 'Request the parts separately.' : 'Leave it out.';
      const hint = `\`${parameter}\` works only with journeys from the timetable, which is not used here. ${instead}`;
      return { parameter, hint };
    }),
  );
}

/** `endedAt` is when the run ended; null for a run that is not listed. */
export function unknownRun(endedAt: string | null): ApiError {
  const text = endedAt === null ? 'this run is no longer listed.' : `this run ended at ${endedAt}.`;
  return new ApiError('RUN_NOT_FOUND', `run_id: ${text}`);
}

export function journeyOver(endedAt: string): ApiError {
  return new ApiError('JOURNEY_NOT_FOUND', `journey_id: this journey ended at ${endedAt}.`);
}

/** For an ID without a valid signature. */
export function notIssued(code: 'RUN_NOT_FOUND' | 'JOURNEY_NOT_FOUND', parameter: string): ApiError {
  return new ApiError(code, `\`${parameter}\` was not issued by this service, or was issued before an update.`);
}

/** `position` as `lat,lng`; `hint` is a sentence. */
export function unknownPosition(parameter: string, position: string, hint = ''): ApiError {
  return new ApiError(
    'STOP_NOT_FOUND',
    `\`${parameter}\`: Transport for NSW knows no place at ${position}.${hint && ` ${hint}`}`,
  );
}

export function methodNotAllowed(path: string, method: string, allowed: string): ApiError {
  return new ApiError('METHOD_NOT_ALLOWED', `${path} does not take ${method}. Allowed: ${allowed}.`, {
    headers: { allow: allowed },
  });
}

export const internalError = fixed('INTERNAL_ERROR', 'Something went wrong on our side.');
export const upstreamFailed = fixed('UPSTREAM_ERROR', 'Transport for NSW failed to respond. Try again later.');

/** `retryAfterSeconds` is how long upstream refuses calls. */
export function upstreamRefused(retryAfterSeconds: number, cause?: unknown): ApiError {
  return new ApiError('UPSTREAM_UNAVAILABLE', 'Transport for NSW accepts no more requests for now. Try again later.', {
    cause,
    ...retryAfter(retryAfterSeconds),
  });
}

export function upstreamTimeout(timeoutMs: number, cause?: unknown): ApiError {
  return new ApiError('UPSTREAM_TIMEOUT', `Transport for NSW did not respond within ${timeoutMs / 1000} seconds.`, {
    cause,
  });
}

export const serviceUnavailable = fixed(
  'SERVICE_UNAVAILABLE',
  'The service accepts no requests right now. Try again in a moment.',
  overloaded,
);
/** An account has as many searches waiting as its plan allows. */
export const tooManySearches = fixed(
  'SERVICE_UNAVAILABLE',
  'Too many of your journey searches are waiting. Send fewer at once, or try again later.',
  { ...overloaded, unavailable: 'account' },
);
export const searchTookTooLong = fixed(
  'SERVICE_UNAVAILABLE',
  'The journey search took too long. Try again later, or search for less.',
  overloaded,
);

const WITHOUT_TIMETABLE = 'This service runs without a timetable of its own, which this request needs.';

/** For operations that only the timetable answers. */
export function noTimetable(missing: MissingTimetable): ApiError {
  const unavailable = 'timetable';
  if (missing.reason === 'off') {
    return new ApiError('SERVICE_UNAVAILABLE', WITHOUT_TIMETABLE, { ...retryAfter(3600), unavailable });
  }
  const { reason, seconds } = missing;
  const state = reason === 'loading' ? 'The timetable is being loaded.' : 'The timetable could not be loaded.';
  const message = `${state} Try again in ${inWords(seconds)}.`;
  return new ApiError('SERVICE_UNAVAILABLE', message, { ...retryAfter(seconds), unavailable });
}

function inWords(seconds: number): string {
  return seconds < 600 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
}

export function stopping(what: 'request' | 'stream'): ApiError {
  const message = {
    request: 'This server is stopping, and the request did not arrive in time.',
    stream: 'This server is stopping. Connect again.',
  }[what];
  return new ApiError('SERVICE_UNAVAILABLE', message, overloaded);
}

const SUSPENDED = {
  account: 'This account is suspended',
  domain: 'Accounts of this mail domain are suspended',
  network: 'Your network is suspended',
};

/** `reason` is a sentence written by the operator, or empty. */
export function suspended(target: keyof typeof SUSPENDED, reason: string): ApiError {
  const contact = 'For details, write to the contact in /.well-known/security.txt.';
  // The operator may have omitted the full stop.
  const reasonText = reason ? `: ${/[.!?]$/.test(reason) ? reason : `${reason}.`}` : '.';
  return new ApiError('SUSPENDED', `${SUSPENDED[target]}${reasonText} ${contact}`);
}

/** Errors of requests that reach no route: not HTTP, too large, too slow, an unreadable body, or too many connections. */

export const notHttp = fixed(
  'INVALID_PARAMETER',
  'The request is not valid HTTP. Percent-encode blanks and non-ASCII characters in the URL.',
);
export const malformedUrl = fixed('INVALID_PARAMETER', 'The URL is malformed. Percent-encode the path as UTF-8.');
export const invalidJson = fixed('INVALID_PARAMETER', 'The body is not valid JSON, but its Content-Type says so.');
export const bodyLengthWrong = fixed('INVALID_PARAMETER', 'The length of the body differs from its Content-Length.');
export const notUnderstood = fixed('INVALID_PARAMETER', 'The request could not be understood.');
export const arrivedTooSlowly = fixed('REQUEST_TIMEOUT', 'The request did not arrive in time.');
export const bodyTooLarge = fixed('BODY_TOO_LARGE', 'The body exceeds the limit of this path.');
export const unsupportedMediaType = fixed(
  'UNSUPPORTED_MEDIA_TYPE',
  'This path does not accept this Content-Type. Send JSON as application/json.',
);
export const headersTooLarge = fixed('HEADERS_TOO_LARGE', 'The URL and headers together are too large.');

/** `method` as sent by the caller. */
export function unknownMethod(method: string): ApiError {
  return methodNotAllowed('This server', method, 'GET, HEAD, OPTIONS');
}

/** For a connection above a limit; `reason` says which limit. */
export function tooManyConnections(reason: 'in all' | 'from your address'): ApiError {
  const message =
    reason === 'in all'
      ? 'Too many connections are open. Try again in a moment.'
      : 'Too many connections are open from your address. Reuse them, or close some.';
  return new ApiError('SERVICE_UNAVAILABLE', message, overloaded);
}

/* Errors of requests above a limit. */

/** Options of an error for a request above the limit with this name in the log. */
function overLimit(limit: string, waitSeconds: number) {
  return { ...retryAfter(waitSeconds), logFields: { limit } };
}

/** `reset` is when the count starts again, `waitSeconds` how long that is from now. */
type SpentTerms = { limit: number; reset: number; waitSeconds: number };

export function dailyLimitExceeded({ plan, limit, reset, waitSeconds }: SpentTerms & { plan: string }): ApiError {
  return new ApiError(
    'DAILY_LIMIT_EXCEEDED',
    `Daily limit reached: ${count(limit)} of ${count(limit)} requests (${plan}). ${describeReset(reset)}`,
    overLimit('day', waitSeconds),
  );
}

/** `needed` is what the request costs, `left` how many requests the account has left today. */
export function tooFewLeft(options: SpentTerms & { plan: string; left: number; needed: number }): ApiError {
  const { plan, limit, left, needed, reset, waitSeconds } = options;
  return new ApiError(
    'DAILY_LIMIT_EXCEEDED',
    `This request counts as ${needed} requests, but only ${left} of ${count(limit)} are left today (${plan}). ` +
      describeReset(reset),
    overLimit('day', waitSeconds),
  );
}

/* Errors of publishable keys and of tokens. */

/** `origin` as given in the request; null if there is none. */
export function originNotAllowed(origin: string | null): ApiError {
  const from = origin === null ? 'This request names no web origin' : `This request comes from ${quote(origin)}`;
  return new ApiError(
    'ORIGIN_NOT_ALLOWED',
    `${from}, which its publishable key does not allow. The owner of the key can add origins at /keys.`,
  );
}

/** `allowed` are paths; undefined if the key works for all operations. */
export function operationNotAllowed(path: string, allowed: readonly string[] | undefined): ApiError {
  if (path === '/v1/tokens') {
    return new ApiError(
      'OPERATION_NOT_ALLOWED',
      'Publishable keys and tokens cannot create tokens. Call /v1/tokens from your server with a secret key.',
    );
  }
  const list = allowed ? LIST.format(allowed) : 'the operations of the API';
  return new ApiError('OPERATION_NOT_ALLOWED', `This key or token works only for ${list}, not for ${path}.`);
}

export function stopNotAllowed(allowed: readonly string[]): ApiError {
  return new ApiError(
    'OPERATION_NOT_ALLOWED',
    `This token works only for ${allowed.length === 1 ? 'stop' : 'stops'} ${LIST.format(allowed)}.`,
  );
}

/** `requests` is the token's limit if it is reached; null if the token has expired. */
export function tokenExpired(requests: number | null): ApiError {
  const cause = requests === null ? 'This token has expired.' : `All ${requests} requests of this token are used.`;
  return new ApiError('TOKEN_EXPIRED', `${cause} Get a new one from your backend (POST /v1/tokens).`, {
    headers: { 'www-authenticate': 'Bearer realm="transit", error="invalid_token"' },
  });
}

export function visitorLimitExceeded({ limit, reset, waitSeconds }: SpentTerms): ApiError {
  return new ApiError(
    'VISITOR_LIMIT_EXCEEDED',
    `This key allows each visitor ${count(limit)} requests an hour, and you have used yours. ${describeReset(reset)}`,
    overLimit('hour of a visitor', waitSeconds),
  );
}

export function visitorTooFast(perSecond: number, burst: number, waitSeconds: number): ApiError {
  return new ApiError(
    'VISITOR_LIMIT_EXCEEDED',
    `This key allows each visitor ${perSecond} requests a second, with bursts of ${burst}. Try again in ${describeWait(waitSeconds)}.`,
    overLimit('rate of a visitor', waitSeconds),
  );
}

export function tooManyVisitorStreams(limit: number): ApiError {
  return new ApiError(
    'VISITOR_LIMIT_EXCEEDED',
    `This key or token allows ${limit === 1 ? 'one open stream' : `${limit} open streams`}. Close one first.`,
    overLimit('streams of a visitor', 10),
  );
}

/** The key has used its share of the account's daily limit. */
export function shareExceeded({ limit, reset, waitSeconds }: SpentTerms): ApiError {
  return new ApiError(
    'DAILY_LIMIT_EXCEEDED',
    `Daily limit of this key reached: ${count(limit)} of ${count(limit)} requests. ${describeReset(reset)}`,
    overLimit('day of the key', waitSeconds),
  );
}

/** `reason` is a sentence on which limit was reached. */
export function tooManyMails(reason: string, waitSeconds: number): ApiError {
  const message = `${reason} Try again in ${describeWait(waitSeconds)}. Check the spam folder.`;
  return new ApiError('TOO_MANY_REQUESTS', message, overLimit('mails', waitSeconds));
}

/** `perSecond` requests are allowed on average, in bursts of up to `burst`. */
export function tooManyInShortTime(options: {
  plan: string;
  perSecond: number;
  burst: number;
  waitSeconds: number;
}): ApiError {
  const { plan, perSecond, burst, waitSeconds } = options;
  return new ApiError(
    'TOO_MANY_REQUESTS',
    `The ${plan} plan allows ${count(perSecond)} requests a second, with bursts of ${count(burst)}. ` +
      `Try again in ${describeWait(waitSeconds)}. This request is not counted.`,
    overLimit('burst', waitSeconds),
  );
}

/** How long a caller should wait for requests in flight: they end within ten seconds, most of them much sooner. */
const UNDER_WAY_SECONDS = 5;

/** `underWay` requests of the account are charged and still in flight. */
export function tooManyUnderWay(plan: string, limit: number, underWay: number): ApiError {
  return new ApiError(
    'TOO_MANY_REQUESTS',
    `Your ${count(underWay)} requests in flight have reserved the rest of today's ${count(limit)} requests (${plan}). ` +
      `Failed requests are refunded. Try again in ${describeWait(UNDER_WAY_SECONDS)}. This request is not counted.`,
    overLimit('requests in flight', UNDER_WAY_SECONDS),
  );
}

/** For requests without a key: `perSecond` are allowed on average, in bursts of up to `burst`. */
export function tooManyPages({ perSecond, burst }: { perSecond: number; burst: number }): ApiError {
  return new ApiError(
    'TOO_MANY_REQUESTS',
    `Your network has requested too many pages: ${perSecond} a second are allowed, with bursts of ${burst}. ` +
      'API requests with a key have separate limits. Try again in a second.',
    overLimit('pages', 1),
  );
}

export function tooManyStreams(plan: string, limit: number): ApiError {
  return new ApiError(
    'TOO_MANY_REQUESTS',
    `All ${count(limit)} streams of your account (${plan}) are open. Close one first.`,
    overLimit('streams', 10),
  );
}

function describeReset(reset: number): string {
  return `Resets at ${timeOf(reset)} (${toSydneyClock(reset)} in Sydney).`;
}

function count(requests: number): string {
  return requests.toLocaleString('en');
}

function timeOf(moment: number): string {
  return `${new Date(moment).toISOString().slice(0, 19)}Z`;
}

function describeWait(seconds: number): string {
  if (seconds === 1) return 'a second';
  if (seconds < 120) return `${seconds} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}
