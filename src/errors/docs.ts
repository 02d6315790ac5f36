import type { ApiError, ErrorCode } from './api-error.ts';
import * as messages from './messages.ts';

/** Curl arguments for a request that works; `{base}` stands for the service's address. */
const curlOf = (path: string) => `-H "Authorization: Bearer $TIS_KEY" "{base}${path}"`;
export const BOARD_CURL = curlOf('/v1/departures?stop=200070&modes=all&limit=5');
const NO_SAME_REQUEST = 'No. The same request gets the same response.';
const WAIT_AND_DOUBLE = 'Yes. Wait for the seconds in Retry-After, then double the wait each time, up to a minute.';

/** The documentation of each error; pages and OpenAPI are generated from it. */
export const ERROR_DOCS: Record<
  ErrorCode,
  {
    title: string;
    /** One or two sentences on when the error is sent. */
    cause: string;
    /** How to fix it, step by step; `{operations}` stands for the operations' paths. */
    fix: readonly string[];
    /** The error as thrown, with example values. */
    example: ApiError;
    /** Whether and when to resend the same request. */
    retry: string;
    /** A request that works; defaults to that of a board (`BOARD_CURL`). */
    curl?: string;
  }
> = {
  REQUEST_TIMEOUT: {
    title: 'The request took too long to arrive',
    cause: 'Headers and body must arrive within ten seconds. The connection is closed after this response.',
    fix: ['Send the whole request at once.', 'Make sure that Content-Length matches the body you send.'],
    example: messages.arrivedTooSlowly(),
    retry: 'Yes, on a new connection.',
  },
  BODY_TOO_LARGE: {
    title: 'The body is too large',
    cause: 'The request body exceeds the limit of this path.',
    fix: ['Every operation of the API is a GET without a body; put parameters in the query string.'],
    example: messages.bodyTooLarge(),
    retry: NO_SAME_REQUEST,
  },
  UNSUPPORTED_MEDIA_TYPE: {
    title: 'Unsupported body type',
    cause: 'The Content-Type is missing or not accepted at this path.',
    fix: ['Send JSON with Content-Type: application/json.', 'Every operation of the API is a GET without a body.'],
    example: messages.unsupportedMediaType(),
    retry: NO_SAME_REQUEST,
  },
  HEADERS_TOO_LARGE: {
    title: 'The URL and headers are too large',
    cause: 'URL and headers together may not exceed 16 KB. The connection is closed after this response.',
    fix: ['Remove headers you do not need, such as cookies, and unknown parameters.'],
    example: messages.headersTooLarge(),
    retry: NO_SAME_REQUEST,
  },
  INVALID_PARAMETER: {
    title: 'A parameter is missing or invalid',
    cause:
      'A required parameter is missing, given twice, or has an invalid value. The message lists every problem: the parameter, the value received and what is allowed.',
    fix: [
      'Read the whole message: each sentence is one problem.',
      'Write numbers as plain decimals, without exponents or blanks. Percent-encode everything but letters and digits.',
      'lat comes before lng. In Sydney lat is about -33.87 and lng about 151.21.',
    ],
    example: messages.invalidParameters([
      { parameter: 'limit', value: 'ten', allowed: 'must be a whole number from 1 to 50' },
    ]),
    retry: NO_SAME_REQUEST,
  },
  DATE_OUT_OF_RANGE: {
    title: 'The date is too early, or beyond the timetable',
    cause:
      'The date is before yesterday in Sydney, or beyond the published timetable. Boards reach as far ahead as the stop’s schedule files, journeys about two weeks.',
    fix: [
      'date and time are Sydney local time, not UTC: late in the UTC day, it is already tomorrow in Sydney.',
      'Leave `date` out for today, or choose an earlier day.',
    ],
    example: messages.pastDate('date', '20261118', '20261119'),
    retry: 'No, unless the date is beyond the timetable: it may be available next week.',
  },
  UNAUTHORIZED: {
    title: 'The key is missing or invalid',
    cause:
      'The request has no API key, or one that is mistyped, unknown, revoked or past its overlap after a rotation. A key in the query string is not accepted, because URLs end up in logs; only streams take a publishable key or a token there, as access_token.',
    fix: [
      'Send the key in the Authorization header as a Bearer token: Authorization: Bearer tis_live_…',
      'Copy the whole key from the email, including the part before the first underscore.',
      'No key yet? Sign up; it takes a minute. Key lost? Request a link at /keys and create a new one.',
    ],
    example: messages.missingKey(),
    retry: 'No. Fix the key first.',
  },
  TOKEN_EXPIRED: {
    title: 'The token has expired or has no requests left',
    cause:
      'A token from POST /v1/tokens is valid for a few minutes and, if your backend set a limit, for that many requests.',
    fix: ['Have your app get a new token from your backend and resend the request.'],
    example: messages.tokenExpired(null),
    retry: 'No. The same token gets the same response.',
  },
  ORIGIN_NOT_ALLOWED: {
    title: 'The publishable key does not allow this origin',
    cause:
      'A publishable key works on the web origins that its owner has listed. The Origin header of this request (or Referer, if there is no Origin) names another origin. Or the request has neither header, as from apps and local files, and the key does not allow that.',
    fix: [
      'Create a key for this origin at /keys, written as in the address bar: https://www.example.org, https://*.example.org or http://localhost:*.',
      'For apps, scripts and local files, allow requests without an origin, or use a token.',
      'A page with Referrer-Policy: no-referrer still sends Origin in cross-site fetch requests.',
    ],
    example: messages.originNotAllowed('https://other.example'),
    retry: NO_SAME_REQUEST,
  },
  OPERATION_NOT_ALLOWED: {
    title: 'The key or token does not allow this operation',
    cause:
      'A publishable key or token works only for the operations chosen for it, and a token may also be limited to some stops. Neither opens the keys page, creates tokens or works on /mcp.',
    fix: ['Use one of the operations in the message, or create a key or token for this one.'],
    example: messages.operationNotAllowed('/v1/trips', ['/v1/departures', '/v1/stops/search']),
    retry: NO_SAME_REQUEST,
  },
  VISITOR_LIMIT_EXCEEDED: {
    title: 'A visitor has made too many requests',
    cause:
      'Each visitor (network address) of a publishable key has an hourly limit, five requests a second with bursts of thirty, and three open streams, or one while half of the account’s streams are open. Refused requests are not counted.',
    fix: [
      'Cache responses for their max-age, and pause requests while the page is hidden.',
      'If many visitors share one address, as in a school, create a key with a higher limit per visitor.',
    ],
    example: messages.visitorLimitExceeded({
      limit: 600,
      reset: Date.parse('2026-11-21T04:00:00Z'),
      waitSeconds: 1260,
    }),
    retry: 'Yes, after the seconds in Retry-After: up to an hour. Until then every request is refused.',
  },
  SUSPENDED: {
    title: 'The account, its mail domain or the network is suspended',
    cause:
      'The operator of this service has suspended your account, all accounts of its mail domain, or the network of the request. The message says which and usually why. The request is not counted.',
    fix: [
      'Stop sending requests: they fail until the suspension is lifted.',
      'Write to the contact in /.well-known/security.txt. A new key does not help.',
    ],
    example: messages.suspended('account', 'your clients send the same request hundreds of times a minute.'),
    retry: 'No. Contact the operator first.',
  },
  NOT_FOUND: {
    title: 'Unknown path',
    cause: 'The service has no such path. All operations are under /v1.',
    fix: ['Check the path against the reference. The operations are {operations}.'],
    example: messages.unknownPath('/v1/departure', '/v1/departures'),
    retry: 'No.',
  },
  NO_JOURNEYS_FOUND: {
    title: 'No journey found',
    cause:
      'Both places are known, but there is no journey between them at that time, from the timetable within three days: no service runs, the places are not connected, or no journey matches modes, wheelchair and max_changes.',
    fix: [
      'Try another time of day: some stops are served only at peak hours.',
      'Remove the parameters named in the message, or try another time: max_changes filters only the next few journeys.',
      'Check both stops with the stop search; a stop of the same name may be in another town.',
    ],
    example: messages.noJourneys('planner', '200070', 'G99006002'),
    retry: 'Not the same request. Another date or time may work.',
    curl: curlOf('/v1/trips?from=202020&to=209573'),
  },
  STOP_NOT_FOUND: {
    title: 'Unknown stop',
    cause: 'The stop ID is well formed, but Transport for NSW has no such stop. The message says which one.',
    fix: [
      'Find the ID with the stop search or with nearby.',
      'IDs are strings: keep a leading G, and do not let a spreadsheet convert them to numbers.',
    ],
    example: messages.unknownStop('123456789'),
    retry: 'No.',
    curl: curlOf('/v1/stops/search?q=town%20hall'),
  },
  LINE_NOT_FOUND: {
    title: 'Unknown line',
    cause: 'The line ID is well formed, but the timetable has no such line.',
    fix: ['Find the ID with /v1/lines?q= and a part of the name, or with /v1/lines?stop= and a stop ID.'],
    example: messages.unknownLine('train_T0'),
    retry: 'No.',
    curl: curlOf('/v1/lines?q=T1'),
  },
  CARPARK_NOT_FOUND: {
    title: 'Unknown car park',
    cause: 'Transport for NSW lists no car park with this ID, or lists it no longer.',
    fix: ['Find the ID with /v1/carparks, or with include=carparks on a stop.'],
    example: messages.unknownCarPark('999'),
    retry: 'No. A car park that closes for good is gone; one that opens is listed within six hours.',
    curl: curlOf('/v1/carparks'),
  },
  CARPARKS_NOT_ENABLED: {
    title: 'Car parks are not enabled',
    cause:
      "Car parks are a product of their own at Transport for NSW. The key of this service's operator may not use it, so there is no reading to show.",
    fix: [
      'Show your page without car parks: stops and nearby have `carparks` null, and everything else works.',
      'Operators: enable the Car Park API for the key at opendata.transport.nsw.gov.au, or leave the operation out with WITHOUT=carparks.',
    ],
    example: messages.carParksNotEnabled(),
    retry: 'Not soon. The service tries again every 30 minutes.',
  },
  ALERT_NOT_FOUND: {
    title: 'Unknown alert',
    cause:
      'No alert has this ID: it has ended, its text has changed (the new text has another ID), or the ID never existed.',
    fix: ['List the alerts in force with /v1/alerts, and use their `id`.'],
    example: messages.unknownAlert('nP3k9QzVx0'),
    retry: 'No.',
    curl: curlOf('/v1/alerts?limit=5'),
  },
  RUN_NOT_FOUND: {
    title: 'The run has ended or is unknown',
    cause:
      'The `run_id` is well formed, but the vehicle has reached the end of its run, or the run is no longer listed. A `run_id` is valid only on the day it was issued. An ID that this service did not issue is refused too.',
    fix: ['Get a `run_id` from a board or journey with `include=ids`. When the run has ended, get a new one.'],
    example: messages.unknownRun(null),
    retry: 'No.',
    curl: curlOf('/v1/departures?stop=200070&modes=all&include=ids'),
  },
  JOURNEY_NOT_FOUND: {
    title: 'The journey is over',
    cause:
      'The `journey_id` is well formed, but the journey reached its destination more than ten minutes ago. An ID that this service did not issue is refused too.',
    fix: ['Plan again with `/v1/trips` and `include=ids`.'],
    example: messages.journeyOver('2026-11-20T03:02:00Z'),
    retry: 'No.',
    curl: curlOf('/v1/trips?from=202020&to=209573&include=ids'),
  },
  METHOD_NOT_ALLOWED: {
    title: 'Method not allowed',
    cause: 'The path exists, but not for this HTTP method. The Allow header lists the allowed methods.',
    fix: ['Every operation of the API is a GET; put parameters in the query string.'],
    example: messages.methodNotAllowed('/v1/departures', 'POST', 'GET, HEAD, OPTIONS'),
    retry: 'No.',
  },
  DAILY_LIMIT_EXCEEDED: {
    title: 'Daily limit reached',
    cause:
      'All keys of an account share its daily limit. It is reached, or the request costs more than is left: /v1/boards costs one request per stop, or 2 around a position. The message says when the limit resets. Refused requests are not counted.',
    fix: [
      'Read the RateLimit header (r: requests left, t: seconds until the reset) of every response, and slow down before r reaches 0.',
      'Do not request a board more often than its max-age: the data is the same until then.',
      'If you regularly need more, read “When a plan is too small” at /docs/limits.',
    ],
    example: messages.dailyLimitExceeded({
      plan: 'Free',
      limit: 1000,
      reset: Date.parse('2026-11-22T00:00:00Z'),
      waitSeconds: 41_213,
    }),
    retry: 'Yes, after the seconds in Retry-After; not before.',
  },
  TOO_MANY_REQUESTS: {
    title: 'Too many requests, open streams or mails at once',
    cause:
      'The plans at /docs/limits limit requests per second and open streams of an account. Refused requests are not counted against the daily limit. For the limit per second every request counts once, including /v1/boards and opening a stream. Signup and key links are limited per network address and per email address, so that nobody’s inbox can be flooded. Pages are limited per network.',
    fix: [
      'Requests: wait for the seconds in Retry-After, then spread requests out. One /v1/boards request can cover several stops.',
      'Streams: close those you no longer read, and share one stream among all readers of a board.',
      'Mails: look for the one already sent, and check the spam folder.',
      'Wait for the seconds in Retry-After and try again.',
    ],
    example: messages.tooManyInShortTime({ plan: 'Free', perSecond: 10, burst: 60, waitSeconds: 1 }),
    retry: 'Yes, after the seconds in Retry-After.',
  },
  INTERNAL_ERROR: {
    title: 'Internal error',
    cause: 'A bug in this service. It is logged with the ID in X-Request-Id. The request is not counted.',
    fix: ['Try again once. If the error persists, send us the X-Request-Id of the response.'],
    example: messages.internalError(),
    retry: 'Once.',
  },
  UPSTREAM_ERROR: {
    title: 'Transport for NSW failed',
    cause:
      'Transport for NSW could not be reached, refused the request or sent an unreadable response, and there was no recent response to fall back on. The request is not counted.',
    fix: ['Check /status, which shows when Transport for NSW last responded.', 'Try again in a few seconds.'],
    example: messages.upstreamFailed(),
    retry: 'Yes, after 5 seconds, then double the wait each time, up to a minute.',
  },
  SERVICE_UNAVAILABLE: {
    title: 'The service cannot handle this request right now',
    cause:
      'This server is overloaded, is shutting down, cannot reach its key store, has no timetable yet, or has too many open connections; or too many of your journey searches are waiting. Your key is not refused. It is charged only if a journey search had begun, which the message then says.',
    fix: [
      'Wait for the seconds in Retry-After and resend the request.',
      'Reuse connections (keep-alive). A client that opens one per request soon has too many.',
    ],
    example: messages.serviceUnavailable(),
    retry: WAIT_AND_DOUBLE,
  },
  UPSTREAM_UNAVAILABLE: {
    title: 'Transport for NSW accepts no more requests for now',
    cause:
      'Transport for NSW limits our calls, or it failed several times in a row and we are giving it time to recover. The request is not counted.',
    fix: ['Wait for the seconds in Retry-After and resend the request.', 'Check /status for the remaining quota.'],
    example: messages.upstreamRefused(30),
    retry: WAIT_AND_DOUBLE,
  },
  UPSTREAM_TIMEOUT: {
    title: 'Transport for NSW did not respond in time',
    cause: 'Transport for NSW did not respond within our deadline. The request is not counted.',
    fix: ['Resend the request after a few seconds.', 'Set the timeout of your client to at least 15 seconds.'],
    example: messages.upstreamTimeout(8000),
    retry: 'Yes, after 5 seconds, then double the wait each time, up to a minute.',
  },
};
