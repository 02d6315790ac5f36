import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { bodyTooLarge, notUnderstood, unsupportedMediaType } from '../errors/messages.ts';

/** A `preHandler` for routes that accept JSON: reads the body, which the key check left unread. */
export async function parseJsonBody(request: FastifyRequest): Promise<void> {
  const { body, mediaType, server } = request;
  if (!(body instanceof Readable)) return;
  if (mediaType !== 'application/json') throw unsupportedMediaType();
  const text = await parseText(body, request.routeOptions.bodyLimit);
  const parse = server.getDefaultJsonParser('error', 'error');
  request.body = await new Promise((resolve, reject) => {
    parse(request, text, (error, parsed) => (error ? reject(error) : resolve(parsed)));
  });
}

/** Discards the rest of a body that is too large, so that the client can read the response. */
function parseText(body: Readable, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    body.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) chunks.push(chunk);
      else reject(bodyTooLarge());
    });
    body.once('end', () => resolve(Buffer.concat(chunks).toString()));
    body.once('error', (error) => reject(notUnderstood(error)));
  });
}
