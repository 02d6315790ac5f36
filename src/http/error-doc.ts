import type { ApiError } from '../errors.ts';

/** What the documentation says of an error. */
export interface ErrorDoc {
  title: string;
  /** When it is answered. One or two sentences. */
  cause: string;
  /** What to do, step by step; `{operations}` stands for the paths of the operations. */
  fix: readonly string[];
  /** The error as it is thrown, with example values. */
  example: ApiError;
  /** Whether, and when, the same request is worth sending again. */
  retry: string;
  /** A request that works, as arguments of curl; `{base}` stands for the address of the service. */
  curl: string;
}
