import { z } from 'zod';
import { MINUTE_MS } from '../core/clock.ts';
import { contentOf, type IdSigner } from '../core/signer.ts';
import { MODES, type Mode } from './mode.ts';
import { parameterOf, requiredText } from './parameter.ts';
import { field } from './schema.ts';

export { isDated, isSameRun, parseTrainId, withoutDate } from './trip-id.ts';

/** A departure of a run. It identifies the run on every instance, without a lookup in memory. */
export interface RunStart {
  runId: string;
  stopId: string;
  mode: Mode;
  /** Milliseconds since 1970. */
  plannedAt: number;
}

export const runIdField = field(
  z.string().nullable().optional(),
  'ID for `/v1/runs/{run_id}`; valid today only, null if unknown. Only with `include=ids`',
  'MSAyMDAwNzAgMCA3amQ3a3MgMDgtQi43NzUuMTcuNDkyLkIuOC45MDAzNDQ5MgtfyRWPqD8Tc',
);

const VERSION = '1';
const MAX_LENGTH = 300;
/** Version, stop, mode, minute since 1970 in base 36, and the run, which may contain blanks. */
const CONTENT = /^1 ([A-Za-z0-9:._-]{1,60}) (\d{1,2}) ([0-9a-z]{1,8}) ([^\p{C}]{1,100})$/u;
const allowed = 'must be a run ID from a board or journey with include=ids';

/** The signed `run_id` of a departure; null if upstream does not name the run. */
export function writeRunId(
  { runId, stopId, mode, plannedAt }: Omit<RunStart, 'runId'> & { runId: string | null },
  ids: IdSigner,
) {
  if (runId === null) return null;
  const minute = Math.floor(plannedAt / MINUTE_MS).toString(36);
  const encoded = Buffer.from(`${VERSION} ${stopId} ${MODES.indexOf(mode)} ${minute} ${runId}`).toString('base64url');
  return ids.sign('run', encoded);
}

const needed = requiredText('a run ID from a board or journey with include=ids');
/** Parses a `run_id`. Operations check the signature. */
export const runIdParameter = parameterOf(needed, (text, refuse): RunStart & { id: string } => {
  const id = text.trim();
  const encoded = contentOf(id);
  const bytes = Buffer.from(encoded, 'base64url');
  const isIntact = id.length <= MAX_LENGTH && bytes.toString('base64url') === encoded;
  const [, stopId = '', mode = '', minute = '', runId = ''] = (isIntact && CONTENT.exec(bytes.toString())) || [];
  const modeName = MODES[Number(mode)];
  const plannedAt = Number.parseInt(minute, 36) * MINUTE_MS;
  const isRead = runId !== '' && modeName && Math.abs(plannedAt) < 8.64e15;
  return isRead ? { id, runId, stopId, mode: modeName, plannedAt } : refuse(allowed);
}).meta({ type: 'string', pattern: '^[A-Za-z0-9_-]+$' });
