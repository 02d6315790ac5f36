/**
 * Why a store did not do what it was asked to: the command could not be sent, the store answered with an error, or no
 * answer came. Only the last one leaves in doubt whether the command was carried out.
 */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
  readonly reason: 'not-sent' | 'refused' | 'no-response';

  constructor(message: string, reason: UnavailableError['reason'], cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}
