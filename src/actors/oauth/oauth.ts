// Connections to OAuth issuers, for people who sign in and for servers that the agent signs in to.

export { discoverIssuer, issuerFetch } from './discover-issuer.ts';
