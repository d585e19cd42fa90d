/** Returns the message of an error, or a thrown value of another type as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
