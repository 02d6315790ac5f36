import { Agent, type IncomingMessage, request as open } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { generateAccountId, generateKey } from '#src/access/keys.ts';
import { urlOf } from '#src/http/paths.ts';
import { buildTestApp } from '#test/support/app.ts';
import { stopsOfTwoLines } from '#test/support/two-lines.ts';
import { startUpstream } from '#test/support/upstream.ts';
import { goodAnswerTo } from '../operations.ts';
import { NOW } from '../payloads.ts';
import type { ReceivedResponse } from './check.ts';
import type { Document } from './document.ts';
import type { DocumentedRequest } from './request.ts';

export interface DocumentedService extends AsyncDisposable {
  document: Document;
  send(request: DocumentedRequest): Promise<ReceivedResponse>;
  sendExample(method: string, url: string): Promise<ReceivedResponse>;
}

/** The complete service, listening, in front of a healthy upstream, with the OpenAPI document that it serves. */
export async function startDocumentedService(): Promise<DocumentedService> {
  const upstream = await startUpstream((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(goodAnswerTo(request.url));
  });
  const app = await buildTestApp({ upstream: upstream.url, now: NOW, sendsKey: false, stops: stopsOfTwoLines() });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  const authorization: Record<DocumentedRequest['key'], string | null> = {
    valid: `Bearer ${app.apiKey}`,
    none: null,
    unknown: `Bearer ${generateKey('live', generateAccountId())}`,
    malformed: `Bearer ${app.apiKey.slice(0, -1)}`,
    'other scheme': `Basic ${app.apiKey}`,
  };

  function send(method: string, url: string, headers: Record<string, string>): Promise<ReceivedResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<ReceivedResponse>();
    const options = { host: '127.0.0.1', port, agent, method, path: url, headers };
    open(options, (response) => readResponse(response).then(resolve, reject))
      .on('error', reject)
      .end();
    return promise;
  }

  return {
    document: (await app.inject('/openapi.json')).json(),
    sendExample: (method, url) => send(method, url, { authorization: authorization.valid ?? '' }),
    send({ method, path, query, headers, key }) {
      const sent = Object.fromEntries(headers);
      if (authorization[key]) sent.authorization = authorization[key];
      return send(method, urlOf(path, new URLSearchParams(query).toString()), sent);
    },
    async [Symbol.asyncDispose]() {
      agent.destroy();
      await app.close();
      await upstream.close();
    },
  };
}

/** An event stream never ends, so the connection is closed after the headers. */
async function readResponse(response: IncomingMessage): Promise<ReceivedResponse> {
  const { statusCode: status = 0, headers } = response;
  if (headers['content-type']?.startsWith('text/event-stream')) {
    response.destroy();
    return { status, headers, body: null };
  }
  return { status, headers, body: await text(response) };
}
