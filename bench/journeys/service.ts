import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServerProcess } from '#test/support/process.ts';
import { startUpstream } from '#test/support/upstream.ts';

/**
 * The service as `npm start` starts it, with journeys from the timetable only. It imports the zips of a directory, laid out as
 * upstream's paths; `stop` is the only one that upstream knows.
 */
export async function startJourneyService(
  { directory, stop, env = {} }: { directory: string; stop: string; env?: Record<string, string> },
  options: Parameters<typeof startServerProcess>[1] = {},
) {
  const upstream = await startUpstream(({ url, method }, response) => {
    const { pathname } = new URL(url, 'http://upstream');
    const file = `${directory}${pathname}.zip`;
    response.statusCode = existsSync(file) || pathname.includes('/tp/') ? 200 : 404;
    if (!existsSync(file)) return void response.end(JSON.stringify({ locations: [{ id: stop }], stopEvents: [] }));
    response
      .setHeader('content-type', 'application/zip')
      .setHeader('last-modified', statSync(file).mtime.toUTCString());
    if (method === 'HEAD') return void response.end();
    createReadStream(file).pipe(response);
  });
  const server = await startServerProcess(
    {
      UPSTREAM_URL: upstream.url,
      UPSTREAM_API_KEY: 'made-up',
      UPSTREAM_RPS: '100',
      TIMETABLE: 'on',
      JOURNEYS: 'timetable',
      ...env,
    },
    options,
  );
  return {
    server,
    /** Until requests may come, as for a load balancer. */
    async untilReady(): Promise<void> {
      while (!server.log.some(({ msg }) => msg === 'timetable in use')) await sleep(500);
      while (!(await fetch(`${server.baseUrl}/readyz`)).ok) await sleep(500);
    },
    /** The file that the service imported. */
    findTimetable(): string {
      const environment = readFileSync(`/proc/${server.process.pid}/environ`, 'utf8').split('\0');
      const folder = environment.find((entry) => entry.startsWith('DATA_DIR='))?.slice('DATA_DIR='.length) ?? '';
      const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
      const name = names.find((one) => /timetable-\d{1,12}\.bin$/.test(one));
      return join(folder, name ?? '');
    },
    async close(): Promise<void> {
      await server.stop('SIGKILL');
      await upstream.close();
    },
  };
}
