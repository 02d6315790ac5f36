import { Cluster, type Redis } from 'ioredis';
import type { RedisConnection } from './connection.ts';

/** The memory figures of one node, from INFO. */
export interface RedisMemory {
  /** `host:port` */
  node: string;
  usedBytes: number;
  /** 0 is no limit. */
  maxBytes: number;
  evictedKeys: number;
}

/** Returns the figures of each node that answers within the time. */
export async function readMemory(connection: RedisConnection, timeoutMs: number): Promise<RedisMemory[]> {
  const nodes = connection instanceof Cluster ? connection.nodes('master') : [connection];
  const read = await Promise.all(
    nodes.filter(({ status }) => status === 'ready').map((node) => readNode(node, timeoutMs)),
  );
  return read.filter((memory) => memory !== null);
}

async function readNode(node: Redis, timeoutMs: number): Promise<RedisMemory | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(resolve, timeoutMs, null);
  const sections = Promise.all([node.info('memory'), node.info('stats')]).catch(() => null);
  const info = (await Promise.race([sections, late]))?.join('\n');
  clearTimeout(timer);
  if (!info) return null;
  const values = new Map(info.split(/\r?\n/).map((line) => line.split(':', 2) as [string, string]));
  const number = (name: string) => Number(values.get(name) ?? 0);
  const { host, port } = node.options;
  return {
    node: `${host}:${port}`,
    usedBytes: number('used_memory'),
    maxBytes: number('maxmemory'),
    evictedKeys: number('evicted_keys'),
  };
}
