/* The reference document's structures (and those of its system that it names), written by hand, packed. */
#pragma pack(push, 1)
struct sockaddr_in6_illumos {
	uint16_t sin6_family; uint16_t sin6_port; uint32_t sin6_flowinfo; uint8_t sin6_addr[16];
	uint32_t sin6_scope_id; uint32_t __sin6_src_id;
};
#define sockaddr_in6 sockaddr_in6_illumos
struct ib_uverbs_global_route {
	uint8_t dgid[16]; uint32_t flow_label; uint8_t sgid_index; uint8_t hop_limit; uint8_t traffic_class; uint8_t reserved;
};
struct ib_uverbs_ah_attr {
	struct ib_uverbs_global_route grh; uint16_t dlid; uint8_t sl; uint8_t src_path_bits; uint8_t static_rate;
	uint8_t is_global; uint8_t port_num; uint8_t reserved;
};
struct ib_uverbs_qp_attr {
	uint32_t qp_attr_mask; uint32_t qp_state; uint32_t cur_qp_state; uint32_t path_mtu; uint32_t path_mig_state;
	uint32_t qkey; uint32_t rq_psn; uint32_t sq_psn; uint32_t dest_qp_num; uint32_t qp_access_flags;
	struct ib_uverbs_ah_attr ah_attr; struct ib_uverbs_ah_attr alt_ah_attr;
	uint32_t max_send_wr; uint32_t max_recv_wr; uint32_t max_send_sge; uint32_t max_recv_sge; uint32_t max_inline_data;
	uint16_t pkey_index; uint16_t alt_pkey_index; uint8_t en_sqd_async_notify; uint8_t sq_draining;
	uint8_t max_rd_atomic; uint8_t max_dest_rd_atomic; uint8_t min_rnr_timer; uint8_t port_num; uint8_t timeout;
	uint8_t retry_cnt; uint8_t rnr_retry; uint8_t alt_port_num; uint8_t alt_timeout; uint8_t reserved[5];
};
struct ib_user_path_rec {
	uint8_t dgid[16]; uint8_t sgid[16]; uint16_t dlid; uint16_t slid; uint32_t raw_traffic; uint32_t flow_label;
	uint32_t reversible; uint32_t mtu; uint16_t pkey; uint8_t hop_limit; uint8_t traffic_class; uint8_t numb_path;
	uint8_t sl; uint8_t mtu_selector; uint8_t rate_selector; uint8_t rate; uint8_t packet_life_time_selector;
	uint8_t packet_life_time; uint8_t preference;
};
struct rdma_ucm_cmd_hdr { uint32_t cmd; uint16_t in; uint16_t out; };
struct rdma_ucm_create_id { uint64_t uid; uint64_t response; uint16_t ps; uint8_t reserved[6]; };
struct rdma_ucm_create_id_resp { uint32_t id; };
struct rdma_ucm_destroy_id { uint64_t response; uint32_t id; uint32_t reserved; };
struct rdma_ucm_destroy_id_resp { uint32_t events_reported; };
struct rdma_ucm_bind_addr { uint64_t response; struct sockaddr_in6 addr; uint32_t id; uint32_t reserved; };
struct rdma_ucm_resolve_addr {
	struct sockaddr_in6 src_addr; struct sockaddr_in6 dst_addr; uint32_t id; uint32_t timeout_ms;
};
struct rdma_ucm_resolve_route { uint32_t id; uint32_t timeout_ms; };
struct rdma_ucm_query_route { uint64_t response; uint32_t id; uint32_t reserved; };
struct rdma_ucm_query_route_resp {
	uint64_t node_guid; struct ib_user_path_rec ib_route[2]; struct sockaddr_in6 src_addr; struct sockaddr_in6 dst_addr;
	uint32_t num_paths; uint8_t port_num; uint8_t reserved[3];
};
struct rdma_ucm_conn_param {
	uint32_t qp_num; uint32_t reserved; uint8_t private_data[256]; uint8_t private_data_len; uint8_t srq;
	uint8_t responder_resources; uint8_t initiator_depth; uint8_t flow_control; uint8_t retry_count;
	uint8_t rnr_retry_count; uint8_t valid;
};
struct rdma_ucm_ud_param {
	uint32_t qp_num; uint32_t qkey; struct ib_uverbs_ah_attr ah_attr; uint8_t private_data[256];
	uint8_t private_data_len; uint8_t reserved[7]; uint8_t reserved2[4];
};
struct rdma_ucm_connect { struct rdma_ucm_conn_param conn_param; uint32_t id; uint32_t reserved; };
struct rdma_ucm_listen { uint32_t id; uint32_t backlog; };
struct rdma_ucm_accept { uint64_t uid; struct rdma_ucm_conn_param conn_param; uint32_t id; uint32_t reserved; };
struct rdma_ucm_reject { uint32_t id; uint8_t private_data_len; uint8_t reserved[3]; uint8_t private_data[256]; };
struct rdma_ucm_disconnect { uint32_t id; };
struct rdma_ucm_init_qp_attr { uint64_t response; uint32_t id; uint32_t qp_state; };
struct rdma_ucm_notify { uint32_t id; uint32_t event; };
struct rdma_ucm_join_mcast { uint64_t response; uint64_t uid; struct sockaddr_in6 addr; uint32_t id; uint32_t reserved; };
struct rdma_ucm_get_event { uint64_t response; };
struct rdma_ucm_event_resp {
	uint64_t uid; uint32_t id; uint32_t event; uint32_t status;
	union { struct rdma_ucm_conn_param conn; struct rdma_ucm_ud_param ud; } param;
};
struct rdma_ucm_set_option { uint64_t optval; uint32_t id; uint32_t level; uint32_t optname; uint32_t optlen; };
#pragma pack(pop)
