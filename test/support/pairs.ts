import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { buildTestApp } from '#test/support/app.ts';
import { startUpstream } from '#test/support/upstream.ts';

/** What is asked of the service, when, and what the authority answers: by endpoint, or by endpoint and stop. */
interface PairIn {
  request: string;
  now: string;
  upstream: Record<string, unknown>;
}

type PairOut = { status: number; body: unknown } | { status: number; error: { code: string; message_holds: string } };

/** What upstream says and what callers get for it. The name is the quirk. */
export interface Pair {
  name: string;
  in: PairIn;
  out: PairOut;
}

/** All pairs of `test/fixtures/<operation>`. Throws when one of them is incomplete or a file belongs to none. */
export function listPairs(operation: string): Pair[] {
  const folder = new URL(`../fixtures/${operation}/`, import.meta.url);
  const files = readdirSync(folder);
  const names = new Set(files.map((file) => file.replace(/\.(in|out)\.json$/, '')));
  const read = (file: string) => JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
  const incomplete = [...names].filter(
    (name) => !files.includes(`${name}.in.json`) || !files.includes(`${name}.out.json`),
  );
  if (names.size === 0 || incomplete.length > 0)
    throw new Error(`${operation}: no complete pair of ${[...incomplete]}`);
  return [...names].sort().map((name) => ({ name, in: read(`${name}.in.json`), out: read(`${name}.out.json`) }));
}

/** Asks the whole service, with the authority answering as the pair tells, and compares the whole answer. */
export async function expectPair({ in: { request, now, upstream: answers }, out }: Pair): Promise<void> {
  const upstream = await startUpstream((asked, response) => {
    const { pathname, searchParams } = new URL(asked.url, 'http://upstream.test');
    const endpoint = pathname.split('/').at(-1) as string;
    const answer = answers[`${endpoint} ${searchParams.get('name_dm')}`] ?? answers[endpoint];
    response.writeHead(answer === undefined ? 500 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? {}));
  });
  const app = await buildTestApp({ upstreamUrl: upstream.url, now });
  try {
    const response = await app.inject(request);
    if ('error' in out) {
      expect(response.json().error).toMatchObject({ code: out.error.code });
      expect(response.json().error.message).toContain(out.error.message_holds);
    } else {
      expect(response.json()).toEqual(out.body);
    }
    expect(response.statusCode).toBe(out.status);
  } finally {
    await app.close();
    await upstream.close();
  }
}
