/** Age of a sign-in up to which a person may change who decides and with what, in milliseconds. */
const recentTime = 600_000;

/**
 * Returns why a sign-in is too old to add a passkey or to hand over; `null` if it is recent. A stolen session is
 * usually older.
 */
export function staleSignIn({ signedInAt }: { signedInAt: number }, now: number): string | null {
  if (now - signedInAt <= recentTime) return null;
  return 'your sign-in is older than 10 minutes; sign out, sign in again and retry';
}
