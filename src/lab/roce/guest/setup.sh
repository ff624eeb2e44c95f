# The network of the guest: two Ethernet devices that are the ends of one wire, each with an RDMA device. Run with
# the host's own ip and rdma, by `sh -eu`.
#
# All neighbours are known from the start, so that no first packet waits for an answer.
# Packets between two addresses of one machine normally take a short cut and no wire. Here they do not: the rule for
# local addresses is moved behind rules that send them over the wire, and what comes from the wire is local.
# (Network namespaces, the usual way, are not for soft-RoCE: its sockets live in the first one.)

left4=10.9.0.1 right4=10.9.1.1
left6=fd09::1 right6=fd09:1::1
# The devices' GUIDs and link-local addresses come from these.
left_mac=02:00:00:09:00:01 right_mac=02:00:00:09:01:01
left_link=fe80::ff:fe09:1 right_link=fe80::ff:fe09:101

echo lab >/proc/sys/kernel/hostname
ip link set lo up
ip link add veth0 address $left_mac type veth peer name veth1 address $right_mac
for device in veth0 veth1; do
	four=/proc/sys/net/ipv4/conf/$device
	six=/proc/sys/net/ipv6/conf/$device
	echo 1 >$four/accept_local
	echo 0 >$four/rp_filter
	echo 1 >$four/arp_ignore
	echo 2 >$four/arp_announce
	# Addresses are usable at once.
	echo 0 >$six/accept_dad
	echo 0 >$six/accept_ra
done

ip -batch - <<END
link set veth0 up
link set veth1 up
addr add $left4/32 dev veth0
addr add $right4/32 dev veth1
rule add pref 1 iif veth0 lookup local
rule add pref 2 iif veth1 lookup local
rule add pref 10 from $left4 to $right4 lookup 100
rule add pref 11 from $right4 to $left4 lookup 101
rule add pref 12 to $right4 oif veth0 lookup 100
rule add pref 13 to $left4 oif veth1 lookup 101
rule add pref 100 lookup local
rule del pref 0
route add $right4 dev veth0 src $left4 table 100
route add $left4 dev veth1 src $right4 table 101
neigh add $right4 lladdr $right_mac dev veth0 nud permanent
neigh add $left4 lladdr $left_mac dev veth1 nud permanent
END
ip -6 -batch - <<END
addr add $left6/128 dev veth0 nodad
addr add $right6/128 dev veth1 nodad
rule add pref 1 iif veth0 lookup local
rule add pref 2 iif veth1 lookup local
rule add pref 10 from $left6 to $right6 lookup 100
rule add pref 11 from $right6 to $left6 lookup 101
rule add pref 12 to $right6 oif veth0 lookup 100
rule add pref 13 to $left6 oif veth1 lookup 101
rule add pref 100 lookup local
rule del pref 0
route add $right6 dev veth0 src $left6 table 100
route add $left6 dev veth1 src $right6 table 101
neigh add $right6 lladdr $right_mac dev veth0 nud permanent
neigh add $left6 lladdr $left_mac dev veth1 nud permanent
neigh add $right_link lladdr $right_mac dev veth0 nud permanent
neigh add $left_link lladdr $left_mac dev veth1 nud permanent
END

rdma link add rxe0 type rxe netdev veth0
rdma link add rxe1 type rxe netdev veth1
for device in rxe0 rxe1; do
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		read -r state </sys/class/infiniband/$device/ports/1/state
		[ "$state" = '4: ACTIVE' ] && break
		sleep 0.1
	done
	[ "$state" = '4: ACTIVE' ]
done
