/** Loads what verifies JSON Web Tokens, which an agent without issuers does without. */
export async function loadJwt() {
  const [{ IssuerKeys }, { issuerOf, verifyJwt }] = await Promise.all([
    import('./issuer-keys.ts'),
    import('./verify-jwt.ts'),
  ]);
  return { IssuerKeys, issuerOf, verifyJwt };
}
