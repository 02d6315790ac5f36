import type { ApiError, ErrorCode } from './api-error.ts';
import * as messages from './messages.ts';

const AUTHORIZED = '-H "Authorization: Bearer $TIS_KEY"';
/** Arguments of curl for requests that work; `{base}` stands for the address of the service. */
export const BOARD_CURL = `${AUTHORIZED} "{base}/v1/departures?stop=200070&modes=all&limit=5"`;
const BOARD_WITH_IDS = `${AUTHORIZED} "{base}/v1/departures?stop=200070&modes=all&include=ids"`;
const SEARCH = `${AUTHORIZED} "{base}/v1/stops/search?q=town%20hall"`;
const JOURNEY = `${AUTHORIZED} "{base}/v1/trips?from=202020&to=209573"`;
const JOURNEY_WITH_IDS = `${AUTHORIZED} "{base}/v1/trips?from=202020&to=209573&include=ids"`;
const NO_SAME_REQUEST = 'No. The same request gets the same response.';
const WAIT_AND_DOUBLE = 'Yes. Wait for the seconds in Retry-After, then double the wait each time, up to a minute.';

/** The documentation of each error. Pages and OpenAPI are made from this table. */
export const ERROR_DOCS: Record<
  ErrorCode,
  {
    title: string;
    /** Says in one or two sentences when it is sent. */
    cause: string;
    /** The remedy, step by step; `{operations}` stands for the paths of the operations. */
    fix: readonly string[];
    /** The error as it is thrown, with example values. */
    example: ApiError;
    /** Whether, and when, the same request is worth sending again. */
    retry: string;
    /** A request that works, where it is not that of a board (`BOARD_CURL`). */
    curl?: string;
  }
> = {
  REQUEST_TIMEOUT: {
    title: 'The request did not arrive in time',
    cause: 'A request, headers and body, has ten seconds to arrive. The connection is closed after this response.',
    fix: ['Send the whole request at once.', 'Do not announce a longer body in Content-Length than you send.'],
    example: messages.arrivedTooSlowly(),
    retry: 'Yes, over a new connection.',
  },
  BODY_TOO_LARGE: {
    title: 'The body is too large',
    cause: 'The body of the request is larger than any form or message that the path takes.',
    fix: ['Every operation of the API is a GET without a body; parameters go into the query string.'],
    example: messages.bodyTooLarge(),
    retry: NO_SAME_REQUEST,
  },
  UNSUPPORTED_MEDIA_TYPE: {
    title: 'The body is of a type that the path does not take',
    cause: 'The Content-Type of the body is missing, or is not one that the path takes.',
    fix: ['Send JSON with Content-Type: application/json.', 'Every operation of the API is a GET without a body.'],
    example: messages.unsupportedMediaType(),
    retry: NO_SAME_REQUEST,
  },
  HEADERS_TOO_LARGE: {
    title: 'The URL and headers are too large',
    cause: 'URL and headers together may have 16 KB. The connection is closed after this response.',
    fix: ['Leave away headers that are not needed, such as cookies, and parameters that no operation has.'],
    example: messages.headersTooLarge(),
    retry: NO_SAME_REQUEST,
  },
  INVALID_PARAMETER: {
    title: 'A parameter is missing or not allowed',
    cause:
      'A required parameter is missing, given twice, or has a value that is not allowed. The message names every problem of the request: the parameter, the value received and what is allowed.',
    fix: [
      'Read the message from front to back: each sentence is one problem.',
      'Numbers are plain decimals: no exponent, no blanks. Percent-encode what is not a letter or digit.',
      'lat comes before lng. In Sydney lat is about -33.87 and lng about 151.21.',
    ],
    example: messages.invalidParameters([
      { parameter: 'limit', value: 'ten', allowed: 'must be a whole number from 1 to 50' },
    ]),
    retry: NO_SAME_REQUEST,
  },
  DATE_OUT_OF_RANGE: {
    title: 'The date is long gone by, or beyond the timetable',
    cause:
      'The day is before yesterday in Sydney, or beyond the published timetable. Boards reach as far as the schedule files of their stop; journeys about two weeks.',
    fix: [
      'date and time are Sydney local time, not UTC: late in the UTC day, Sydney has tomorrow’s date already.',
      'Leave `date` out for today, or choose an earlier day.',
    ],
    example: messages.pastDate('date', '20261118', '20261119'),
    retry: 'No, unless the date is beyond the timetable: it may be in reach next week.',
  },
  UNAUTHORIZED: {
    title: 'The key is missing or not valid',
    cause:
      'The request has no API key, or one that is mistyped, unknown, revoked or past its overlap after a rotation. A key in the query string is not accepted, because URLs end up in logs; only streams take a publishable key or a token there, as access_token.',
    fix: [
      'Send the key in the Authorization header as a Bearer token: Authorization: Bearer tis_live_…',
      'Copy the whole key from the e-mail, the part before the first underscore included.',
      'No key yet? Sign up; it takes a minute. Key lost? Ask for a link at /keys and make a new one.',
    ],
    example: messages.missingKey(),
    retry: 'No. Put the right key in first.',
  },
  TOKEN_EXPIRED: {
    title: 'The token has expired or is used up',
    cause: 'A token of POST /v1/tokens is valid for some minutes, and for as many requests as its backend has said.',
    fix: ['Let your app get a new token from your backend, and send the request again with it.'],
    example: messages.tokenExpired(null),
    retry: 'No. The same token gets the same response.',
  },
  ORIGIN_NOT_ALLOWED: {
    title: 'The publishable key is for pages of other origins',
    cause:
      'A publishable key works on the web origins that its owner has listed. This request names another one in Origin, or in Referer where there is no Origin; or it names none, as apps and pages opened from a file do, and the key is not for those.',
    fix: [
      'Make a key for this origin at /keys: https://www.example.org, https://*.example.org or http://localhost:* as it stands in the address bar.',
      'For apps, scripts and files allow requests without an origin, or use a token.',
      'A page with Referrer-Policy: no-referrer still sends Origin with fetch to another site.',
    ],
    example: messages.originNotAllowed('https://other.example'),
    retry: NO_SAME_REQUEST,
  },
  OPERATION_NOT_ALLOWED: {
    title: 'The key or token is not for this operation',
    cause:
      'A publishable key and a token are for the operations, and a token for the stops, that were chosen for them. Neither opens the keys page, makes tokens or works on /mcp.',
    fix: ['Ask for one of the operations that the message names, or make a key or token for this one.'],
    example: messages.operationNotAllowed('/v1/trips', ['/v1/departures', '/v1/stops/search']),
    retry: NO_SAME_REQUEST,
  },
  VISITOR_LIMIT_EXCEEDED: {
    title: 'One visitor has made too many requests',
    cause:
      'With a publishable key each visitor, which is a network address, has a limit an hour, five requests a second after thirty at once, and three open streams, or one while half of the account’s are open. Refused requests are not counted.',
    fix: [
      'Keep responses as long as max-age says, and do not ask for hidden pages.',
      'If many visitors share one address, as in a school, make a key with a higher limit for each visitor.',
    ],
    example: messages.visitorLimitExceeded({ limit: 600, reset: new Date('2026-11-21T04:00:00Z'), waitSeconds: 1260 }),
    retry: 'Yes, after the seconds in Retry-After: up to an hour. Until then every request is refused.',
  },
  SUSPENDED: {
    title: 'The account, its mail domain or the network is suspended',
    cause:
      'The operator of this service has suspended the account of the key, all accounts of its mail domain, or the network that the request comes from. The message says which, and mostly why. The request is not counted.',
    fix: [
      'Stop sending requests: they get the same response until the suspension is lifted.',
      'Write to the contact in /.well-known/security.txt. Another key does not help.',
    ],
    example: messages.suspended('account', 'your clients send the same request hundreds of times a minute.'),
    retry: 'No. Write to the operator first.',
  },
  NOT_FOUND: {
    title: 'There is nothing at this path',
    cause: 'The path is not one of the service. The operations live under /v1.',
    fix: ['Check the path against the reference. The operations are {operations}.'],
    example: messages.unknownPath('/v1/departure', '/v1/departures'),
    retry: 'No.',
  },
  NO_JOURNEYS_FOUND: {
    title: 'No journey joins the two places',
    cause:
      'The trip planner knows both places and finds no way between them at that time: no service runs, the two are not linked at all, or no journey fits modes, wheelchair and max_changes.',
    fix: [
      'Try another time of day: some stops are served in peak hours only.',
      'Leave out the parameters that the message names, or ask for another time: max_changes looks at the next few journeys only.',
      'Check both stops with the stop search; a stop of the same name may be in another town.',
    ],
    example: messages.noJourneys('200070', 'G99006002'),
    retry: 'Not the same request. Another date or time may have a response.',
    curl: JOURNEY,
  },
  STOP_NOT_FOUND: {
    title: 'The authority does not know the stop',
    cause: 'The stop identifier is well formed, and the authority has no stop under it. The message says which one.',
    fix: [
      'Find the identifier with the stop search or with nearby.',
      'Identifiers are strings: keep a leading G, and do not let a spreadsheet turn them into numbers.',
    ],
    example: messages.unknownStop('123456789'),
    retry: 'No.',
    curl: SEARCH,
  },
  RUN_NOT_FOUND: {
    title: 'The run has ended or is not known',
    cause:
      'The `run_id` is well formed, and the vehicle has reached the end of its run, or the authority does not list the run any more. A `run_id` is good for the day on which it was given. An ID that this service did not issue is refused too.',
    fix: ['Take `run_id` from a board or a journey with `include=ids`, and again when the run has ended.'],
    example: messages.unknownRun(null),
    retry: 'No.',
    curl: BOARD_WITH_IDS,
  },
  JOURNEY_NOT_FOUND: {
    title: 'The journey is over',
    cause:
      'The `journey_id` is well formed, and the journey reached its destination some minutes ago. An ID that this service did not issue is refused too.',
    fix: ['Plan again with `/v1/trips` and `include=ids`.'],
    example: messages.journeyOver('2026-11-20T03:02:00Z'),
    retry: 'No.',
    curl: JOURNEY_WITH_IDS,
  },
  METHOD_NOT_ALLOWED: {
    title: 'The path takes another method',
    cause: 'The path exists, but not for this HTTP method. The Allow header lists the methods that do.',
    fix: ['Every operation of the API is a GET; parameters go into the query string.'],
    example: messages.methodNotAllowed('/v1/departures', 'POST', 'GET, HEAD, OPTIONS'),
    retry: 'No.',
  },
  DAILY_LIMIT_EXCEEDED: {
    title: 'The plan’s requests of the day are used up',
    cause:
      'All keys of one account share the plan’s daily count, and it is spent, or fewer are left than the request counts as: boards count as one request for each stop. The message says when counting starts again. Refused requests are not counted.',
    fix: [
      'Read RateLimit (r: requests left, t: seconds to the reset) on every response, and slow down before it is empty.',
      'Do not ask for the same board more often than its max-age says: nothing new is to be had.',
      'If you need more every day, read “When a plan is too small” at /docs/limits.',
    ],
    example: messages.dailyLimitExceeded({
      plan: 'Free',
      limit: 1000,
      reset: new Date('2026-11-22T00:00:00Z'),
      waitSeconds: 41_213,
    }),
    retry: 'Yes, after the seconds in Retry-After; not before.',
  },
  TOO_MANY_REQUESTS: {
    title: 'Too many requests in a short time, too many open streams, or too many mails',
    cause:
      'An account may make so many requests a second, and have so many streams open at once, as the table of plans at /docs/limits says. Requests beyond it are not counted against the day. Everything that is sent with a key counts as one request here, also a board of several stops, and the opening of a stream. Signup and key links are throttled for each network address and for each e-mail address, so that nobody’s inbox can be flooded from here. When many keys that are not valid come from one network, further keys that we have not seen lately are not looked up for a moment.',
    fix: [
      'Requests: wait for the seconds in Retry-After, and spread them out: several stops fit into one request of /v1/boards.',
      'Streams: close one that is not read any more, and share one stream of a board among its readers.',
      'Look for the mail that was already sent, in the spam folder too.',
      'Wait for the seconds in Retry-After and try once more.',
    ],
    example: messages.tooManyInShortTime({ plan: 'Free', perSecond: 10, burst: 60, waitSeconds: 1 }),
    retry: 'Yes, after the seconds in Retry-After.',
  },
  INTERNAL_ERROR: {
    title: 'We made a mistake',
    cause: 'A bug of ours. It is logged under the id in X-Request-Id. The request is not counted.',
    fix: ['Try again once. If it stays, tell us the X-Request-Id of the response.'],
    example: messages.internalError(),
    retry: 'Once.',
  },
  UPSTREAM_ERROR: {
    title: 'The transport authority failed',
    cause:
      'The authority could not be reached, refused, or sent something that cannot be read, and there was no recent response to fall back on. The request is not counted.',
    fix: ['Look at /status: it says when the authority last answered.', 'Try again in a few seconds.'],
    example: messages.upstreamFailed(),
    retry: 'Yes, after 5 seconds, then double the wait each time, up to a minute.',
  },
  SERVICE_UNAVAILABLE: {
    title: 'We take no requests right now',
    cause:
      'This server is overloaded, closing, or cannot reach its own key store, or too many connections are open. Your key is neither refused nor charged.',
    fix: [
      'Wait for the seconds in Retry-After and send the same request again.',
      'Keep connections open and use them again. A client that opens one for each request soon has too many.',
    ],
    example: messages.serviceUnavailable(),
    retry: WAIT_AND_DOUBLE,
  },
  UPSTREAM_UNAVAILABLE: {
    title: 'The transport authority takes no more requests for now',
    cause:
      'The authority limits how much we may ask of it, or has failed several times in a row and is given time to recover. The request is not counted.',
    fix: ['Wait for the seconds in Retry-After and send the same request again.', 'Look at /status for what is left.'],
    example: messages.upstreamRefused(30),
    retry: WAIT_AND_DOUBLE,
  },
  UPSTREAM_TIMEOUT: {
    title: 'The transport authority did not answer in time',
    cause: 'The authority was asked and stayed silent beyond our deadline. The request is not counted.',
    fix: ['Send the same request again after a few seconds.', 'Let your own client wait for at least 15 seconds.'],
    example: messages.upstreamTimeout(8000),
    retry: 'Yes, after 5 seconds, then double the wait each time, up to a minute.',
  },
};
