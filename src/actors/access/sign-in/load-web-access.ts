/** Loads the sign-in of the approvals page; agents without the page never load its libraries. */
export async function loadWebAccess() {
  const { openWebAccess } = await import('./open-web-access.ts');
  return openWebAccess;
}
