import type { RedisConnection } from './connection.ts';

/** Redis runs these also when its memory is full. */
const WHEN_FULL = '#!lua flags=allow-oom\n';

/**
 * The one way to register a Lua script. All keys of a script share one hash tag, so that it works on a cluster too.
 * ioredis sends the text once for each connection and again when Redis has lost it (NOSCRIPT). `whenFull` is for accounts,
 * counts and the budget: they are small, and a memory that caches have filled must not stop them.
 */
export function defineScript<
  Keys extends readonly string[],
  Arguments extends readonly (string | number | Buffer)[],
  Reply,
>(name: string, lua: string, { whenFull = false } = {}) {
  const registered = new WeakSet<RedisConnection>();
  return (connection: RedisConnection, keys: Keys, values: Arguments): Promise<Reply> => {
    if (!registered.has(connection)) connection.defineCommand(name, { lua: (whenFull ? WHEN_FULL : '') + lua });
    registered.add(connection);
    const command = Reflect.get(connection, name) as (...values: unknown[]) => Promise<Reply>;
    return command.call(connection, keys.length, ...keys, ...values);
  };
}
