import type { RedisConnection } from './connection.ts';

type Value = string | number | Buffer;

/** Runs a Lua script inside Redis, in one piece. */
type Script<Keys extends readonly string[], Arguments extends readonly Value[], Reply> = (
  connection: RedisConnection,
  keys: Keys,
  values: Arguments,
) => Promise<Reply>;

/** Redis runs these also when its memory is full. */
const WHEN_FULL = '#!lua flags=allow-oom\n';

/**
 * The one way to register a Lua script. All keys of a script share one hash tag, so that it works on a cluster too.
 * ioredis sends the text once for each connection and again when Redis has lost it (NOSCRIPT). `whenFull` is for accounts,
 * counts and the budget: they are small, and a memory that caches have filled must not stop them.
 */
export function defineScript<Keys extends readonly string[], Arguments extends readonly Value[], Reply>(
  name: string,
  lua: string,
  { whenFull = false } = {},
): Script<Keys, Arguments, Reply> {
  const registered = new WeakSet<RedisConnection>();
  return (connection, keys, values) => {
    if (!registered.has(connection)) connection.defineCommand(name, { lua: (whenFull ? WHEN_FULL : '') + lua });
    registered.add(connection);
    const command = Reflect.get(connection, name) as (...values: Value[]) => Promise<Reply>;
    return command.call(connection, keys.length, ...keys, ...values);
  };
}
