/** Loads the sign-in of a page; agents without one never load its libraries. */
export async function loadWebAccess() {
  const [{ openPasskeys }, { openWebAccess }] = await Promise.all([
    import('./open-passkeys.ts'),
    import('./open-web-access.ts'),
  ]);
  return { openPasskeys, openWebAccess };
}
