// node bench/miss-path/zz-profile.ts [warmup] [requests] [inFlight] [board|trip]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

const [warm = '400', count = '400', inFlight = '5', what = 'board', prof = 'yes'] = process.argv.slice(2);
const start = (name: string, execArgv: string[], ...options: string[]) =>
  fork(new URL(`./${name}.ts`, import.meta.url), options, { execArgv, stdio: ['ignore', 'inherit', 'pipe', 'ipc'] });
const authority = start('authority', [], '50', '145000', '800000');
authority.stderr?.pipe(process.stderr);
const [{ url }] = await once(authority, 'message');
const server = start('server', prof === 'yes' ? ['--inspect=127.0.0.1:0'] : [], url);
let ws = '';
server.stderr?.on('data', (d) => {
  const m = /ws:\S+/.exec(String(d));
  if (m) ws = m[0];
  else process.stderr.write(d);
});
const [{ port, apiKey }] = await once(server, 'message');
const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 50 });
let n = 0;
const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
async function once1() {
  const i = n++;
  const path =
    what === 'board'
      ? `/v1/departures?stop=${10_000_000 + i}&modes=all&limit=20`
      : `/v1/trips?from=202091&to=G2095102&date=${tomorrow}&time=${String(Math.floor(i / 60) % 24).padStart(2, '0')}${String(i % 60).padStart(2, '0')}`;
  const { statusCode, body } = await pool.request({
    method: 'GET',
    path,
    headers: { authorization: `Bearer ${apiKey}` },
  });
  const t = await body.text();
  if (statusCode !== 200) throw new Error(t);
}
async function run(total: number) {
  let left = total;
  const lat: number[] = [];
  await Promise.all(
    Array.from({ length: Number(inFlight) }, async (_, k) => {
      await sleep((k * 50) / Number(inFlight));
      while (left-- > 0) {
        const t0 = performance.now();
        await once1();
        lat.push(performance.now() - t0);
      }
    }),
  );
  return lat.sort((a, b) => a - b);
}
const threads = () =>
  Object.fromEntries(
    readdirSync(`/proc/${server.pid}/task`).map((tid) => {
      const s = readFileSync(`/proc/${server.pid}/task/${tid}/stat`, 'utf8');
      const f = s.slice(s.lastIndexOf(')') + 2).split(' ');
      const sched = Number(readFileSync(`/proc/${server.pid}/task/${tid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
      return [
        `${s.slice(s.indexOf('(') + 1, s.lastIndexOf(')'))}-${tid}`,
        sched || (Number(f[11]) + Number(f[12])) * 10,
      ];
    }),
  );
await run(Number(warm));
let send: (m: string, p?: object) => Promise<any> = async () => ({});
if (prof === 'yes') {
  const sock = new WebSocket(ws);
  await once(sock, 'open');
  let id = 0;
  const waiting = new Map<number, (v: any) => void>();
  sock.onmessage = (e) => {
    const m = JSON.parse(e.data);
    waiting.get(m.id)?.(m.result);
  };
  send = (method, params = {}) =>
    new Promise((r) => {
      waiting.set(++id, r);
      sock.send(JSON.stringify({ id, method, params }));
    });
  await send('Profiler.enable');
  await send('Profiler.setSamplingInterval', { interval: 250 });
  await send('Profiler.start');
}
const before = threads();
const lat = await run(Number(count));
const after = threads();
console.log('latency p50', lat[lat.length >> 1]?.toFixed(1));
const rows = Object.entries(after)
  .map(([k, v]) => [k, (v - (before[k] ?? 0)) / Number(count)] as const)
  .sort((a, b) => b[1] - a[1]);
console.log('CPU ms a request by thread; total', rows.reduce((s, r) => s + r[1], 0).toFixed(2));
for (const [k, v] of rows.slice(0, 12)) console.log('  ', k.padEnd(30), v.toFixed(3));
if (prof === 'yes') {
  const { profile } = await send('Profiler.stop');
  writeFileSync('/tmp/miss2/last.cpuprofile', JSON.stringify(profile));
}
process.exit(0);
