/** One line of the report. */
export interface Figure {
  what: string;
  measured: string;
  /** Empty where there is none. */
  aim: string;
}
