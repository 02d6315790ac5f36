import type { RedisConnection } from './connection.ts';
import type { SharedRedis } from './shared-redis.ts';
import { UnavailableError } from './unavailable-error.ts';

/** What the command answers; `otherwise` while Redis is away or refuses it. */
export async function askOr<Answer, Otherwise>(
  redis: Pick<SharedRedis, 'ask'>,
  name: string,
  command: (connection: RedisConnection) => Promise<Answer>,
  otherwise: Otherwise,
): Promise<Answer | Otherwise> {
  try {
    return await redis.ask(name, command);
  } catch (error) {
    if (error instanceof UnavailableError) return otherwise;
    throw error;
  }
}
