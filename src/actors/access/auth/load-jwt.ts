/** Loads the JWT library; agents without issuers never load it. */
export async function loadJwt() {
  const [{ IssuerKeys }, { issuerOf, verifyJwt }] = await Promise.all([
    import('./issuer-keys.ts'),
    import('./verify-jwt.ts'),
  ]);
  return { IssuerKeys, issuerOf, verifyJwt };
}
