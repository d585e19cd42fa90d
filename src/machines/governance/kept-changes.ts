/** Changes of the arguments of one call that are kept; more of them are left out. */
export const mostChangesKept = 32;
