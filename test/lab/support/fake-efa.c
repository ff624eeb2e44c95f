/*
 * A libefa of any release. Built with -D:
 *   RELEASE=n        takes and fills the structure as rdma-core n does, and reports the capabilities that n knows
 *   NEEDS=n          a later release, which takes no shorter inlen than that
 *   RESULT=n         efadv_query_device returns that errno value
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

struct attr {
	uint64_t comp_mask;
	uint32_t max_sq_wr;
	uint32_t max_rq_wr;
	uint16_t max_sq_sge;
	uint16_t max_rq_sge;
	uint16_t inline_buf_size;
	uint16_t inline_buf_size_ex;
	uint32_t device_caps;
	uint32_t max_rdma_size;
};

#ifndef NEEDS
#define NEEDS (RELEASE >= 63 ? 23 : 21)
#endif

#if RELEASE >= 26
int efadv_query_device(void *context, struct attr *attr, uint32_t inlen)
{
#ifdef RESULT
	return RESULT;
#endif
	if (inlen < NEEDS)
		return EINVAL;
	attr->comp_mask = 0;
	attr->max_sq_wr = 4101;
	attr->max_rq_wr = 32769;
	attr->max_sq_sge = 17;
	attr->max_rq_sge = 18;
	attr->inline_buf_size = 33;
	if (RELEASE >= 63)
		attr->inline_buf_size_ex = 49;
	if (RELEASE >= 27 && inlen > 24) {
		/* The card can do everything; the library says what it has heard of. */
		attr->device_caps = (RELEASE >= 27) << 0 | (RELEASE >= 32) << 1 | (RELEASE >= 43) << 2 |
				    (RELEASE >= 46) << 3 | (RELEASE >= 52) << 4 | (RELEASE >= 59) << 5 |
				    (RELEASE >= 65) << 6;
		attr->max_rdma_size = 1 << 30;
	}
	return 0;
}
#endif

#if RELEASE >= 63
struct sq_depth {
	uint64_t comp_mask;
	uint32_t flags, max_send_sge, max_rdma_sge, max_inline_data;
};
struct rq_depth {
	uint64_t comp_mask;
	uint32_t max_recv_sge;
};

int efadv_get_max_sq_depth(void *context, struct sq_depth *attr, uint32_t inlen)
{
	return attr->max_send_sge == 1 && attr->max_inline_data == 0 ? 4095 : -EINVAL;
}

int efadv_get_max_rq_depth(void *context, struct rq_depth *attr, uint32_t inlen)
{
	return -EOPNOTSUPP;
}
#endif
