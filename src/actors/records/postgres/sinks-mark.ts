/** Name of the mark for the last log line sent to the sinks; it starts where the first daemon joined. */
export const sinksMark = 'sinks';
