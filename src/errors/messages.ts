import { quote, withoutBrackets } from '../transit/parameter.ts';
import { ApiError } from './api-error.ts';

/*
 * The errors that the documentation quotes, one function each. The routes throw what these return, and the error pages
 * and OpenAPI show what these return for example values, so that the two cannot differ.
 */

/** One problem with a parameter. */
export interface ParameterProblem {
  parameter: string;
  /** The value as received; undefined when the parameter is missing, or the text names what is wrong with it. */
  value?: unknown;
  /** Begins with a verb: "must be a whole number from 1 to 50". Absent where `hint` is the whole message. */
  allowed?: string | undefined;
  /** One or more sentences that say what to do instead. */
  hint?: string | undefined;
}

/** Every problem in one message: parameter, what is allowed, once for each parameter the value received, and a hint. */
export function invalidParameters(problems: readonly ParameterProblem[]): ApiError {
  const sentences = problems.flatMap(({ parameter, value, allowed, hint }, index) => {
    const isFirst = problems.findIndex((problem) => problem.parameter === parameter) === index;
    const received = value === undefined || !isFirst ? '' : `, not ${quote(value)}`;
    return [allowed === undefined ? [] : `\`${parameter}\` ${allowed}${received}.`, hint ?? []].flat();
  });
  return new ApiError('INVALID_PARAMETER', sentences.join(' '), namesOf(problems));
}

/** What a caller wrote in brackets behind a name is left out. */
function namesOf(problems: readonly Pick<ParameterProblem, 'parameter'>[]) {
  const names = new Set(problems.map(({ parameter }) => withoutBrackets(parameter)));
  return { logFields: { parameter: [...names].join(', ') } };
}

/** Both dates as `YYYYMMDD`. */
export function pastDate(parameter: 'date' | 'time', date: string, yesterday: string): ApiError {
  return new ApiError(
    'DATE_OUT_OF_RANGE',
    `${parameter}: ${date} is too far in the past. It must be yesterday (${yesterday} in Sydney) or later.`,
    namesOf([{ parameter }]),
  );
}

/** `date` as `YYYYMMDD`, which may come from either parameter, `date` or `time`; null for today. */
export function beyondTimetable(date: string | null): ApiError {
  return new ApiError(
    'DATE_OUT_OF_RANGE',
    `${date === null ? 'Today' : `The day ${date} (date, or time)`} is outside the published timetable.`,
    namesOf([{ parameter: 'date' }]),
  );
}

const SEND_KEY = 'Send your API key in the Authorization header as a Bearer token: "Authorization: Bearer YOUR_KEY".';

/** `problem` is a sentence that says what is wrong with the key, `logged` says it in the log; neither repeats the key. */
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

/** `near` is a path of the API that may have been meant, `operations` are those to choose from. */
export function unknownPath(path: string, near: string | null, operations: readonly string[] = []): ApiError {
  const known = operations.length > 0 ? ` The API has ${LIST.format(operations)}; /docs describes them.` : '';
  const hint = near ? ` Did you mean ${near}?` : known;
  return new ApiError('NOT_FOUND', `There is nothing at ${path}.${hint}`);
}

/** `conditions` are the parameters that each journey has to fit; `hint` is a sentence that says what else may be the cause. */
export function noJourneys(from: string, to: string, conditions: readonly string[] = [], hint = ''): ApiError {
  const fitting = conditions.length > 0 ? ` that fits ${LIST.format(conditions)}` : '';
  return new ApiError(
    'NO_JOURNEYS_FOUND',
    `The transport authority finds no journey from ${from} to ${to} at this time${fitting}.${hint && ` ${hint}`}`,
  );
}

const LIST = new Intl.ListFormat('en-AU');

export function unknownStop(stopId: string): ApiError {
  return new ApiError('STOP_NOT_FOUND', `No stop ${stopId}. Find IDs with /v1/stops/search or /v1/nearby.`);
}

/** `id` is that of a place other than a stop. */
export function unknownPlace(id: string): ApiError {
  return new ApiError('STOP_NOT_FOUND', `No place ${id}. Find IDs with /v1/places/search.`);
}

/** `endedAt` is known of a run that has ended. */
export function unknownRun(endedAt: string | null): ApiError {
  const text =
    endedAt === null ? 'the transport authority does not list this run any more.' : `this run ended at ${endedAt}.`;
  return new ApiError('RUN_NOT_FOUND', `run_id: ${text}`);
}

export function journeyOver(endedAt: string): ApiError {
  return new ApiError('JOURNEY_NOT_FOUND', `journey_id: this journey ended at ${endedAt}.`);
}

/** An identifier without a valid signature. */
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

export function internalError(cause?: unknown): ApiError {
  return new ApiError('INTERNAL_ERROR', 'Something went wrong on our side.', { cause });
}

export function upstreamFailed(cause?: unknown): ApiError {
  return new ApiError('UPSTREAM_ERROR', 'The transport authority failed to answer. Try again later.', { cause });
}

/** `retryAfterSeconds` is how long upstream wants no calls. */
export function upstreamRefused(retryAfterSeconds: number, cause?: unknown): ApiError {
  return new ApiError(
    'UPSTREAM_UNAVAILABLE',
    'The transport authority takes no more requests for now. Try again later.',
    { cause, ...retryAfter(retryAfterSeconds) },
  );
}

export function upstreamTimeout(timeoutMs: number, cause?: unknown): ApiError {
  return new ApiError(
    'UPSTREAM_TIMEOUT',
    `The transport authority did not answer within ${timeoutMs / 1000} seconds.`,
    { cause },
  );
}

export function serviceUnavailable(cause?: unknown): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', 'The service takes no requests right now. Try again in a moment.', {
    cause,
    unavailable: 'overload',
    ...retryAfter(5),
  });
}

export function stopping(): ApiError {
  return new ApiError(
    'SERVICE_UNAVAILABLE',
    'This server is stopping, and the request did not arrive in time.',
    retryAfter(5),
  );
}

const SUSPENDED = {
  account: 'This account is suspended',
  domain: 'Accounts of this mail domain are suspended',
  network: 'Your network is suspended',
};

/** `reason` is a sentence of the operator's, or empty. */
export function suspended(what: keyof typeof SUSPENDED, reason: string): ApiError {
  const contact = 'The contact in /.well-known/security.txt can say more.';
  // The operator's words may lack the full stop.
  const why = reason ? `: ${/[.!?]$/.test(reason) ? reason : `${reason}.`}` : '.';
  return new ApiError('SUSPENDED', `${SUSPENDED[what]}${why} ${contact}`);
}

/** For an error that passes. */
function retryAfter(seconds: number) {
  return { headers: { 'retry-after': String(seconds) } };
}

/* Errors of requests that no route has seen: not HTTP, too large, too slow, with a body that cannot be read, or over one connection too many. */

export function notHttp(): ApiError {
  return new ApiError(
    'INVALID_PARAMETER',
    'The request is not valid HTTP. Blanks and letters beyond ASCII in the URL must be percent-encoded.',
  );
}

export function malformedUrl(): ApiError {
  return new ApiError('INVALID_PARAMETER', 'The URL is malformed. Percent-encode the path as UTF-8.');
}

/** `method` as it was sent. */
export function unknownMethod(method: string): ApiError {
  return methodNotAllowed('This server', method, 'GET, HEAD, OPTIONS');
}

export function invalidJson(cause?: unknown): ApiError {
  return new ApiError('INVALID_PARAMETER', 'The body is not the JSON that its Content-Type announces.', { cause });
}

export function bodyLengthWrong(cause?: unknown): ApiError {
  return new ApiError('INVALID_PARAMETER', 'The body is not as long as its Content-Length says.', { cause });
}

export function notUnderstood(cause?: unknown): ApiError {
  return new ApiError('INVALID_PARAMETER', 'The request could not be understood.', { cause });
}

export function arrivedTooSlowly(): ApiError {
  return new ApiError('REQUEST_TIMEOUT', 'The request did not arrive in time.');
}

export function bodyTooLarge(cause?: unknown): ApiError {
  return new ApiError('BODY_TOO_LARGE', 'The body is larger than this path takes.', { cause });
}

export function unsupportedMediaType(cause?: unknown): ApiError {
  return new ApiError(
    'UNSUPPORTED_MEDIA_TYPE',
    'This path does not take a body of this Content-Type. Send JSON as application/json.',
    { cause },
  );
}

export function headersTooLarge(): ApiError {
  return new ApiError('HEADERS_TOO_LARGE', 'The URL and headers of the request are too large together.');
}

/** For a connection above a limit; `reason` says which. */
export function tooManyConnections(reason: 'in all' | 'from your address'): ApiError {
  const message =
    reason === 'in all'
      ? 'Too many connections are open. Try again in a moment.'
      : 'Too many connections are open from your address. Use those that are open again, or close some.';
  return new ApiError('SERVICE_UNAVAILABLE', message, { ...retryAfter(5), unavailable: 'overload' });
}

/* Limits. */

/** For a request above the limit of that name in the log. */
function overLimit(limit: string, waitSeconds: number) {
  return { ...retryAfter(waitSeconds), logFields: { limit } };
}

/** `reset` is when counting starts again, `waitSeconds` how long that is from now. */
type SpentTerms = { limit: number; reset: Date; waitSeconds: number };

export function dailyLimitExceeded({ plan, limit, reset, waitSeconds }: SpentTerms & { plan: string }): ApiError {
  return new ApiError(
    'DAILY_LIMIT_EXCEEDED',
    `The ${plan} plan allows ${limit.toLocaleString('en')} requests a day, and today's are used up. ` +
      describeReset(reset),
    overLimit('day', waitSeconds),
  );
}

/** `needed` is as how many requests the request counts, `left` how many the account has left. */
export function tooFewLeft(options: SpentTerms & { plan: string; left: number; needed: number }): ApiError {
  const { plan, limit, left, needed, reset, waitSeconds } = options;
  return new ApiError(
    'DAILY_LIMIT_EXCEEDED',
    `This request counts as ${needed} requests, and ${left} of the ${limit.toLocaleString('en')} that the ${plan} plan allows a day are left. ` +
      describeReset(reset),
    overLimit('day', waitSeconds),
  );
}

/* Errors of publishable keys and of tokens. */

/** `origin` as the request names it; null where it names none. */
export function originNotAllowed(origin: string | null): ApiError {
  const from = origin === null ? 'This request names no web origin' : `This request comes from ${quote(origin)}`;
  return new ApiError(
    'ORIGIN_NOT_ALLOWED',
    `${from}, and its publishable key is for other origins. The owner of the key lists them at /keys.`,
  );
}

/** `allowed` are paths; undefined where the key is for all operations of the API. */
export function operationNotAllowed(path: string, allowed: readonly string[] | undefined): ApiError {
  const list = allowed ? LIST.format(allowed) : 'the operations of the API';
  return new ApiError('OPERATION_NOT_ALLOWED', `This key or token is not for ${path}: it is for ${list}.`);
}

export function stopNotAllowed(allowed: readonly string[]): ApiError {
  return new ApiError(
    'OPERATION_NOT_ALLOWED',
    `This token is for requests that name stops, and for no other stops than ${LIST.format(allowed)}.`,
  );
}

/** `requests` is how many the token was for, where they are used up; null where its time is over. */
export function tokenExpired(requests: number | null): ApiError {
  const why = requests === null ? 'This token has expired.' : `The ${requests} requests of this token are used up.`;
  return new ApiError('TOKEN_EXPIRED', `${why} Get a new one from your backend, which gets it from POST /v1/tokens.`, {
    headers: { 'www-authenticate': 'Bearer realm="transit", error="invalid_token"' },
  });
}

export function visitorLimitExceeded({ limit, reset, waitSeconds }: SpentTerms): ApiError {
  return new ApiError(
    'VISITOR_LIMIT_EXCEEDED',
    `With this key each visitor has ${limit.toLocaleString('en')} requests an hour, and yours are used up until ${timeOf(reset)}.`,
    overLimit('hour of a visitor', waitSeconds),
  );
}

export function visitorTooFast(perSecond: number, burst: number, waitSeconds: number): ApiError {
  return new ApiError(
    'VISITOR_LIMIT_EXCEEDED',
    `With this key each visitor has ${perSecond} requests a second, after ${burst} at once. Try again in ${describeWait(waitSeconds)}.`,
    overLimit('rate of a visitor', waitSeconds),
  );
}

export function tooManyVisitorStreams(limit: number): ApiError {
  return new ApiError(
    'VISITOR_LIMIT_EXCEEDED',
    `With this key or token ${limit === 1 ? 'one stream' : `${limit} streams`} may be open at once. Close one first.`,
    overLimit('streams of a visitor', 10),
  );
}

/** The key has used up its share of the account's day. */
export function shareExceeded({ limit, reset, waitSeconds }: SpentTerms): ApiError {
  return new ApiError(
    'DAILY_LIMIT_EXCEEDED',
    `This key may make ${limit.toLocaleString('en')} requests a day, and today's are used up. ${describeReset(reset)}`,
    overLimit('day of the key', waitSeconds),
  );
}

/** `reason` is a sentence that says which limit was reached. */
export function tooManyMails(reason: string, waitSeconds: number): ApiError {
  const message = `${reason} Try again in ${describeWait(waitSeconds)}. Check the spam folder.`;
  return new ApiError('TOO_MANY_REQUESTS', message, overLimit('mails', waitSeconds));
}

/** `burst` requests may come at once, and `perSecond` on average. */
export function tooManyInShortTime(options: {
  plan: string;
  perSecond: number;
  burst: number;
  waitSeconds: number;
}): ApiError {
  const { plan, perSecond, burst, waitSeconds } = options;
  return new ApiError(
    'TOO_MANY_REQUESTS',
    `The ${plan} plan allows ${perSecond.toLocaleString('en')} requests a second, after ${burst.toLocaleString('en')} at once. ` +
      `Try again in ${describeWait(waitSeconds)}. This request is not counted.`,
    overLimit('burst', waitSeconds),
  );
}

/** Requests are answered, or have failed, after eight seconds at most. */
const UNDER_WAY_SECONDS = 5;

/** `underWay` requests of the account are counted and not answered yet. */
export function tooManyUnderWay(plan: string, limit: number, underWay: number): ApiError {
  return new ApiError(
    'TOO_MANY_REQUESTS',
    `The ${plan} plan allows ${limit.toLocaleString('en')} requests a day, and too few are left while ${underWay.toLocaleString('en')} of yours wait for their responses. ` +
      `Those that fail are given back. Try again in ${describeWait(UNDER_WAY_SECONDS)}. This request is not counted.`,
    overLimit('requests in flight', UNDER_WAY_SECONDS),
  );
}

/** For requests without a key; `burst` requests may come at once, and `perSecond` on average. */
export function tooManyPages({ perSecond, burst }: { perSecond: number; burst: number }): ApiError {
  return new ApiError(
    'TOO_MANY_REQUESTS',
    `Your network has requested too many pages: ${perSecond} a second are allowed, after ${burst} at once. ` +
      'Requests of the API with a key have limits of their own. Try again in a second.',
    overLimit('pages', 1),
  );
}

/** `limit` is how many streams the plan allows. */
export function tooManyStreams(plan: string, limit: number): ApiError {
  return new ApiError(
    'TOO_MANY_REQUESTS',
    `The ${plan} plan allows ${limit.toLocaleString('en')} open streams, and your account has them open. Close one first.`,
    overLimit('streams', 10),
  );
}

function describeReset(reset: Date): string {
  return `Counting starts again at ${timeOf(reset)}.`;
}

function timeOf(moment: Date): string {
  return `${moment.toISOString().slice(0, 19)}Z`;
}

function describeWait(seconds: number): string {
  if (seconds === 1) return 'a second';
  if (seconds < 120) return `${seconds} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 120 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}
