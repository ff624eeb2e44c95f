/** The two ends of the wire of lab roce. */
export const LEFT = '10.9.0.1';
export const RIGHT = '10.9.1.1';
