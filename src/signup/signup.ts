import formbody from '@fastify/formbody';
import type { FastifyInstance } from 'fastify';
import type { Register } from '../access/store.ts';
import { ApiError } from '../errors.ts';
import type { Layout } from '../site/layout.ts';
import { createDesk } from './desk.ts';
import { createKeyLinks, LINK_MINUTES } from './key-link.ts';
import { keysPage } from './keys-page.ts';
import { answerErrorsWithPages } from './page-errors.ts';
import type { Postman } from './postman.ts';
import { signupPage } from './signup-page.ts';
import { createThrottle, type ThrottleLimits } from './throttle.ts';

export interface SignupOptions {
  layout: Layout;
  publicUrl: string;
  docsUrl: string;
  isSandbox: boolean;
  register: Register;
  postman: Postman;
  linkSecret: string;
  mailLimits?: ThrottleLimits | undefined;
  now: () => Date;
}

const MAX_FORM_BYTES = 16 * 1024;
const MAIL_LIMITS = { perNetwork: 20, perAddress: 6 };
/** Generous, for who holds the link is the owner; a stolen link floods no inbox either. */
const ROTATION_LIMITS = { perNetwork: 100, perAddress: 20 };

/** Signing up, and looking after one's keys. */
export async function signup(app: FastifyInstance, options: SignupOptions): Promise<void> {
  const { publicUrl, docsUrl, isSandbox, postman, now } = options;
  const register = orAway(options.register);
  const links = createKeyLinks({ secret: options.linkSecret, publicUrl, now });
  const facts = { publicUrl, docsUrl, isSandbox };
  const desk = createDesk({ register, postman, facts, makeLink: links.make, linkMinutes: LINK_MINUTES, now });
  // Each its own: whoever asks for keys in somebody's name must not take the way to revoke them.
  const limits = options.mailLimits ?? MAIL_LIMITS;
  const forKeys = createThrottle(limits, now);
  // As long as a link works: who is refused one because others asked for it has one in the inbox that still opens.
  const forLinks = createThrottle({ ...limits, addressWindowMinutes: LINK_MINUTES }, now);
  const forRotations = createThrottle(ROTATION_LIMITS, now);

  answerErrorsWithPages(app, options);
  await app.register(formbody, { bodyLimit: MAX_FORM_BYTES });
  await app.register(signupPage, { ...options, desk, throttle: forKeys });
  await app.register(keysPage, { ...options, register, desk, links, forLinks, forRotations });
}

/** What goes wrong in the store is said as everywhere: not now. */
function orAway(register: Register): Register {
  return new Proxy(register, {
    get(target, name: keyof Register) {
      const method = target[name] as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]) => {
        try {
          return await method.apply(target, args);
        } catch (cause) {
          throw new ApiError(
            'SERVICE_UNAVAILABLE',
            'Keys cannot be looked up or made right now. Try again in a moment.',
            {
              cause,
              headers: { 'retry-after': '30' },
            },
          );
        }
      };
    },
  });
}
