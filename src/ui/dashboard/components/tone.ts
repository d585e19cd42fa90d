/** The meaning of a colour: one of the five decisions, or none. */
export type Tone = 'plain' | 'allow' | 'deny' | 'modify' | 'step-up' | 'hold';
