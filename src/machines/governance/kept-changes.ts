/** Maximum number of stored argument changes per call. */
export const mostChangesKept = 32;
