/** Resolves as a promise does, unless the signal aborts before; then rejects with the reason of the signal. */
export async function unlessAborted<T>(wanted: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = Promise.withResolvers<never>();
  const leave = (): void => over.reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    return await Promise.race([wanted, over.promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
