import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type FileId, SCHEDULE_FILES } from '#src/timetable/schedule-files.ts';
import { gtfsZip } from './gtfs-zip.ts';

/**
 * A schedule with this many trips of one light rail line each day from `from` to `to` (YYYYMMDD). Any file may contain such a
 * line.
 */
export function smallSchedule({ trips = 10, from = '20261120', to = '20261231', prefix = 'T' } = {}): Buffer {
  const ids = Array.from({ length: trips }, (_, index) => `${prefix}${index}`);
  const hour = (index: number) => String(index % 24).padStart(2, '0');
  return gtfsZip({
    'agency.txt': 'agency_id,agency_name\nA,Trams\n',
    'stops.txt': 'stop_id,stop_name,stop_lat,stop_lon\n2000,First St,-33.8,151.2\n2001,Second St,-33.81,151.21\n',
    'routes.txt': 'route_id,agency_id,route_short_name,route_type\nR,A,L9,900\n',
    'calendar.txt': `service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\nS,1,1,1,1,1,1,1,${from},${to}\n`,
    'trips.txt': `route_id,service_id,trip_id,trip_headsign\n${ids.map((id) => `R,S,${id},Second St\n`).join('')}`,
    'stop_times.txt': `trip_id,arrival_time,departure_time,stop_id,stop_sequence\n${ids
      .map(
        (id, at) =>
          `${id},${hour(at)}:00:00,${hour(at)}:00:00,2000,1\n${id},${hour(at)}:10:00,${hour(at)}:10:00,2001,2\n`,
      )
      .join('')}`,
  });
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A zip with its `Last-Modified`, as upstream sends it. With `knows304` it also answers `If-Modified-Since`. */
export function zipAnswer(zip: Buffer, { changedAt = '2026-11-20T03:00:00Z', knows304 = false } = {}): Answer {
  const lastModified = new Date(changedAt).toUTCString();
  return ({ method, headers }, response) => {
    // A 304 may have the length of the content that it leaves out (RFC 9110, 8.6).
    response.setHeaders(new Headers({ 'last-modified': lastModified, 'content-type': 'application/zip' }));
    response.setHeader('content-length', zip.length);
    if (knows304 && method === 'GET' && headers['if-modified-since'] === lastModified) response.writeHead(304).end();
    else response.end(method === 'HEAD' ? undefined : zip);
  };
}

/** Upstream's schedule on a free port: the same small zip at every path, until `answer` changes one. */
export async function startScheduleServer(zip = smallSchedule()) {
  const answers = new Map<string, Answer>();
  const others = { answer: zipAnswer(zip) };
  const requests: { method: string; path: string; key: string | undefined }[] = [];
  const server = createServer((request, response) => {
    const { method = '', url: path = '', headers } = request;
    requests.push({ method, path, key: headers.authorization });
    (answers.get(path) ?? others.answer)(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    /** The value for UPSTREAM_URL. */
    url: `http://127.0.0.1:${port}/v1/tp`,
    requests,
    others,
    answer: (id: FileId, answer: Answer) => answers.set(SCHEDULE_FILES[id].path, answer),
    /** The method of each request for the file. */
    methodsOf: (id: FileId) =>
      requests.flatMap(({ path, method }) => (path === SCHEDULE_FILES[id].path ? [method] : [])),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
