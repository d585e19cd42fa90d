/** Where the sinks stand in the log is kept under this name; they begin where the first daemon joined. */
export const sinksMark = 'sinks';
