/** The reasons that a rejection can be given: of all that there are, the library and the kernel send these two. */

/** The application said no: what a plain reject says. */
export const REASON_CONSUMER = 28;
/** A vendor option (ECE) is not supported; rdma_reject_ece, rdma-core 31. */
export const REASON_VENDOR_OPTION = 35;

export const SENDABLE_REASONS = [REASON_CONSUMER, REASON_VENDOR_OPTION] as const;
