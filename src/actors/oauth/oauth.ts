// Connections to OAuth issuers, for people who sign in and for servers that the agent signs in to.

export { discoverIssuer, type IssuerSettings, issuerFetch } from './discover-issuer.ts';
