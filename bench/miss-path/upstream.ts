import { startUpstream } from '#test/support/upstream.ts';
import { boardFor, makeBoard, makeTrip } from './responses.ts';

/*
 * Upstream in its own process: every response takes a fixed time.
 * `node bench/miss-path/upstream.ts MILLISECONDS BOARD_BYTES TRIP_BYTES`
 */
const [milliseconds, boardBytes, tripBytes] = process.argv.slice(2).map(Number);
const board = makeBoard(boardBytes ?? 0, new Date());
const trip = makeTrip(tripBytes ?? 0);

const { url } = await startUpstream((request, response) => {
  const body = request.url.includes('/trip?') ? trip : boardFor(board, request.url);
  response.writeHead(200, { 'content-type': 'application/json' });
  setTimeout(() => response.end(body), milliseconds);
});
process.on('disconnect', () => process.exit(0));
process.send?.({ url });
