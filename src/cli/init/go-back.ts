/** What is typed or chosen to go to the question before. */
export const goBack = '<';
