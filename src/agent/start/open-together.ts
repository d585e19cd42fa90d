/**
 * Opens parts that belong together and closes them in reverse order, either when `open` fails or when the result is
 * disposed. If `open` fails, rejects with its error. A part that fails to close does not stop the others from closing;
 * disposing then rejects with the first failure.
 */
export async function openTogether<Resource extends object>(
  open: (stack: AsyncDisposableStack) => Promise<Resource>,
): Promise<Resource & AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  try {
    const opened = await open(stack);
    return { ...opened, [Symbol.asyncDispose]: () => close(stack) };
  } catch (error) {
    // Report why it could not be opened, not a failed clean-up.
    await stack.disposeAsync().catch(() => undefined);
    throw error;
  }
}

async function close(stack: AsyncDisposableStack): Promise<void> {
  await stack.disposeAsync().catch((error: unknown) => Promise.reject(firstError(error)));
}

/** Unwraps the first error of failed clean-ups. */
function firstError(error: unknown): unknown {
  return error instanceof SuppressedError ? firstError(error.suppressed) : error;
}
