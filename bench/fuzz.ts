import { createCheck } from '#test/contract/document/check.ts';
import { documentedRequests } from '#test/contract/document/request.ts';
import { startDocumentedService } from '#test/contract/document/service.ts';
import { describeMachine, print } from './machine.ts';

/*
 * Requests generated from the service's own OpenAPI document, over all its paths, parameters and headers. Each response must have
 * a documented status and match its schema, with no 5xx, and only 4xx without a valid key.
 * `node bench/fuzz.ts [requests] [seed]`
 */
const [requests = '100000', seed = '1'] = process.argv.slice(2);
const BATCH = 1000;
const MAX_SHOWN = 20;

print(describeMachine());
await using service = await startDocumentedService();
const check = createCheck(service.document);
const statuses: Record<string, number> = {};
let wrong = 0;
for (let sent = 0; sent < Number(requests); sent += BATCH) {
  const count = Math.min(BATCH, Number(requests) - sent);
  for (const request of documentedRequests(service.document, count, Number(seed) + sent)) {
    const response = await service.send(request);
    statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    const problem = check(request, response);
    if (problem && ++wrong <= MAX_SHOWN) print(`  ${problem}: ${JSON.stringify(request)}`);
  }
}
print(`\n${requests} requests, responses by status: ${JSON.stringify(statuses)}`);
print(`  ${wrong === 0 ? 'holds' : 'BROKEN'}: every response is as documented (${wrong} are not)`);
if (wrong > 0) process.exitCode = 1;
